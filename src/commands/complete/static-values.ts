import type { Candidate, Wanted } from '../../lib/output/completion/complete.ts'

/** Each is loaded only when it is asked for: completion is to be fast. */
const sources: Readonly<Record<string, () => Promise<readonly Candidate[]>>> = {
  '--to': knownVersions,
  '--accept': findingIds,
  explain: findingIds,
  '--scenario': scenarioNames,
  '--for': waitConditions,
}

/** What may stand there on any cluster; undefined where nothing is known of it. */
export async function staticValues({ command, option }: Wanted): Promise<readonly Candidate[] | undefined> {
  const source = sources[option ?? command]
  return source?.()
}

const plain = (value: string): Candidate => ({ value, description: '' })

/** Minors that somebody may still go to. */
const newest = 6

async function knownVersions(): Promise<Candidate[]> {
  const [{ knownReleases }, { latestPatch }, { compareVersions }] = await Promise.all([
    import('../../lib/releases/releases.ts'),
    import('../../lib/releases/known-releases.ts'),
    import('../../lib/releases/version.ts'),
  ])
  return Object.keys(knownReleases.minors)
    .map((minor) => latestPatch(minor))
    .filter((version) => version !== undefined)
    .toSorted((a, b) => compareVersions(b, a))
    .slice(0, newest)
    .map(({ text }) => ({ value: text, description: 'the latest patch of its minor' }))
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
