import type { Candidate, Wanted } from '../../lib/output/completion/complete.ts'

type Source = () => Promise<readonly Candidate[]>

/** Each is loaded only when it is asked for: completion is to be fast. By option, by command, or by both. */
const sources: Readonly<Record<string, Source>> = {
  '--to': async () => (await latestPatches()).slice(0, newest),
  '--accept': acceptable,
  explain: findingIds,
  '--scenario': scenarioNames,
  '--for': waitConditions,
  '--dry-run': async () => dryRuns,
  '--verbosity': async () => verbosities,
  '--wave-by': async () => waveBys,
  'set --methods': async () => methods,
  'releases --since': latestPatches,
  'releases --until': latestPatches,
}

/** What may stand there on any cluster; undefined where nothing is known of it. */
export async function staticValues({ command, option }: Wanted): Promise<readonly Candidate[] | undefined> {
  const source = sources[`${command} ${option}`] ?? sources[option ?? command]
  return source?.()
}

const plain = (value: string): Candidate => ({ value, description: '' })

/** Minors that somebody may still go to. */
const newest = 6

async function latestPatches(): Promise<Candidate[]> {
  const [{ knownReleases }, { latestPatch }, { compareVersions }] = await Promise.all([
    import('../../lib/releases/releases.ts'),
    import('../../lib/releases/known-releases.ts'),
    import('../../lib/releases/version.ts'),
  ])
  return Object.keys(knownReleases.minors)
    .map((minor) => latestPatch(minor))
    .filter((version) => version !== undefined)
    .toSorted((a, b) => compareVersions(b, a))
    .map(({ text }) => ({ value: text, description: 'the latest patch of its minor' }))
}

async function acceptable(): Promise<Candidate[]> {
  const { explanations, isRefusal } = await import('../../lib/checks/explanations.ts')
  const refused = new Set(explanations.filter(isRefusal).map(({ id }) => id))
  return (await findingIds()).filter(({ value }) => !refused.has(value))
}

async function findingIds(): Promise<Candidate[]> {
  const [{ explanations }, { knownReleases }] = await Promise.all([
    import('../../lib/checks/explanations.ts'),
    import('../../lib/releases/releases.ts'),
  ])
  return [...explanations, ...knownReleases.knownBad].map(({ id }) => plain(id))
}

async function scenarioNames(): Promise<readonly Candidate[]> {
  return (await import('../demo/scenario-names.ts')).scenarioNames()
}

async function waitConditions(): Promise<Candidate[]> {
  return (await import('../../lib/facts/wait-condition.ts')).waitConditions.map(plain)
}

const dryRuns: readonly Candidate[] = [
  { value: 'none', description: 'change what has to be changed' },
  { value: 'client', description: 'show what would change, send no write' },
  { value: 'server', description: 'show what would change, asked of the API server' },
]

const waveBys: readonly Candidate[] = [
  { value: 'label=', description: 'by the values of a label' },
  { value: 'namespace', description: 'by namespace' },
  { value: 'node', description: 'by the node on which they run' },
]

const methods: readonly Candidate[] = [
  { value: 'LiveMigrate', description: 'VMs that can be migrated are' },
  { value: 'LiveMigrate,Evict', description: 'the others are shut down' },
  { value: 'Evict', description: 'VMs are shut down, or migrated where their evictionStrategy says so' },
]

const verbosities: readonly Candidate[] = [
  { value: '6', description: 'requests' },
  { value: '7', description: 'requests with their headers' },
  { value: '8', description: 'requests with bodies' },
]
