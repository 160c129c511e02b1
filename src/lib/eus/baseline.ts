import type { Journal, JournalReader } from '../engine/journal.ts'
import type { EusHop, EusPlan, PlatformStop } from './plan/eus-plan.ts'
import type { ReadContext, Step, StepState } from '../engine/step.ts'
import { minutes, seconds } from '../kube/clock.ts'
import { readPlatform } from './steps/cluster-version-status.ts'
import type { Reader } from '../kube/cluster.ts'
import { type Node, Nodes } from '../kube/kinds/core-kinds.ts'
import { takeCensus } from '../vms/census/vm-census.ts'
import { createHash } from 'node:crypto'
import { atVersion, isRecord } from '../kube/object.ts'
import { HyperConvergeds } from '../kube/kinds/operator-kinds.ts'
import { type FieldChange, fieldChanges, type Leaf, type Leaves, leavesOf } from '../kube/field-changes.ts'
import { storedHyperConverged } from '../openshift/hyperconverged.ts'
import { type Fired, firedNow } from '../openshift/firing-alerts.ts'
import type { EusWindow } from './window.ts'
import type { OwnWork } from '../engine/sealed-plan.ts'

/** What a window keeps in the journal under its procedure's name: baselines that the cluster does not tell later, never progress. */
export interface Baseline {
  /** The release where the window began: `4.18.21`. */
  from: string
  /** The pools that were there: one that is not among them appeared in the window. */
  pools: readonly string[]
  /** Whether pools stay behind: told by them no more, once somebody unpauses one. */
  mode: EusPlan['mode']
  /** The minor at the end of the way, where windows follow behind this one. */
  goal?: string
}

const windowKey = (name: string, what: string): string => `${name}/${what}`

export async function keptBaseline(journal: JournalReader, name: string): Promise<Baseline | undefined> {
  const found = await journal.kept(windowKey(name, 'began'))
  if (!isRecord(found) || typeof found['from'] !== 'string' || !Array.isArray(found['pools']))
    return undefined
  const isRolling = found['mode'] === 'rolling' || found['way'] === 'plain'
  const mode = isRolling ? 'rolling' : 'control-plane-only'
  const goal = typeof found['goal'] === 'string' ? { goal: found['goal'] } : {}
  return { from: found['from'], pools: found['pools'].map(String), mode, ...goal }
}

/** What a pool's Updating condition looked like before something began that has to change it. */
export interface PoolBefore {
  /** lastTransitionTime of Updating, RFC 3339; empty where it has none. */
  updating: string
  pending: boolean
}

export async function keptPool(
  journal: JournalReader,
  name: string,
  of: string,
): Promise<PoolBefore | undefined> {
  const found = await journal.kept(windowKey(name, `pool/${of}`))
  if (!isRecord(found) || typeof found['updating'] !== 'string') return undefined
  return { updating: found['updating'], pending: found['pending'] === true }
}

export const keepPool = (journal: Journal, name: string, of: string, before: PoolBefore): Promise<void> =>
  journal.keep(windowKey(name, `pool/${of}`), before)

/**
 * Writes down, before anything is changed, what nobody could tell later: the release, the pools, volumes, the spec of the HyperConverged, what alerts fire, the labels
 * and taints of the nodes, which come last: with them it is whole. What is left of a window that is over is forgotten before.
 */
export function keepWhereItBegan({ name, ...baseline }: { name: string } & Omit<Baseline, 'from'>): Step {
  return {
    id: 'keep-baseline',
    title: 'save the baseline for the comparison at the end',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      const [began, nodes] = [await keptBaseline(journal, name), await keptNodes(journal, name)]
      if (began && nodes && !(await isOver(journal, { name, mode: baseline.mode })))
        return { is: 'done', note: `began at ${began.from}` }
      return {
        is: 'todo',
        change:
          'save in the journal: the release, the pools, the spec of HyperConverged, the firing alerts, and the annotations of volumes and nodes',
      }
    },
    async apply({ reader, journal, clock }) {
      const at = clock.now().toISOString()
      if (await isOver(journal, { name, mode: baseline.mode }))
        await journal.record({
          at,
          by: '',
          procedure: name,
          step: '',
          what: 'finished',
          text: 'it was restored before',
        })
      const { platformStatus } = await readPlatform(reader)
      await journal.keep(windowKey(name, 'began'), { from: platformStatus.version ?? '', ...baseline })
      await keepMarks(journal, windowKey(name, 'volumes'), await volumeMarks(reader), mostVolumes)
      await journal.keep(windowKey(name, 'hyperconverged'), await specNow(reader))
      await journal.keep(windowKey(name, 'alerts'), keepable(await firedNow(reader)))
      await keepMarks(journal, windowKey(name, 'nodes'), await nodeMarks(reader), mostNodes)
    },
  }
}

/**
 * Kept for a window whose overrides were all given back, by a command that ended before it could forget this: pools stayed behind in it, and in the one that
 * begins they follow. One in which nothing was borrowed goes on the way it began.
 */
async function isOver(
  journal: JournalReader,
  { name, mode }: { name: string } & Pick<Baseline, 'mode'>,
): Promise<boolean> {
  const began = await keptBaseline(journal, name)
  if (began === undefined || began.mode === mode) return false
  return !(await journal.overrides()).some(({ procedure }) => procedure === name)
}

/** The journal has room for some 2000, and other things to keep. */
const mostNodes = 1000

const keptNodes = (journal: JournalReader, name: string): Promise<Marks | undefined> =>
  keptMarks(journal, windowKey(name, 'nodes'))

/** As they were when the window was opened, or as they are now where nothing was kept yet. */
export const nodesBefore = async ({ reader, journal }: Reading, name: string): Promise<Marks> =>
  (await keptNodes(journal, name)) ?? nodeMarks(reader)

/** Nodes whose labels or taints are not what they were, and those that are gone (night E11). */
export async function changedNodes(reader: Reader, before: Marks): Promise<Changed> {
  return changedMarks(before, await nodeMarks(reader))
}

/** Of each node its labels and taints. */
async function nodeMarks(reader: Reader): Promise<Marks> {
  const marks: Record<string, string> = {}
  for await (const { items } of reader.pages(Nodes))
    for (const node of items) marks[node.metadata.name] = markOf(nodeText(node), 16)
  return marks
}

/** What a drain puts on a node and takes away again says nothing. */
const passing = /^node\.kubernetes\.io\//u

function nodeText({ metadata: { labels = {} }, spec }: Node): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  const taints = (spec?.taints ?? [])
    .filter(({ key: taint }) => !passing.test(taint))
    .map(({ key: taint, value = '', effect }) => `${taint}=${value}:${effect}`)
  return JSON.stringify([pairs.toSorted(), taints.toSorted()])
}

/** The journal has room for some thousand names, and other things to keep. */
const mostVolumes = 500

/** As they were when the window was opened, or as they are now where nothing was kept yet. */
export const volumesBefore = async ({ reader, journal }: Reading, name: string): Promise<Marks> =>
  (await keptMarks(journal, windowKey(name, 'volumes'))) ?? volumeMarks(reader)

/** DataVolumes and claims that are other ones, or in another phase, and those that are gone (night E11). */
export async function changedVolumes(reader: Reader, before: Marks): Promise<Changed> {
  return changedMarks(before, await volumeMarks(reader))
}

/** Of each `claim namespace/name` and `DataVolume namespace/name` its uid and phase. */
async function volumeMarks(reader: Reader): Promise<Marks> {
  const { volumes } = await takeCensus(reader)
  return Object.fromEntries(
    [...volumes].map(([volume, { uid, phase }]) => [volume, markOf(`${uid} ${phase}`, 8)]),
  )
}

type Reading = Pick<ReadContext, 'reader' | 'journal'>

/** Name → a short mark of what is compared later; enough to say that it is another one, in some 30 bytes each. */
type Marks = Readonly<Record<string, string>>

function markOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, length)
}

/** As many as the journal has room for, beside other things to keep. */
async function keepMarks(journal: Journal, key: string, marks: Marks, most: number): Promise<void> {
  await journal.keep(key, Object.fromEntries(Object.entries(marks).slice(0, most)))
}

async function keptMarks(journal: JournalReader, key: string): Promise<Marks | undefined> {
  const found = await journal.kept(key)
  if (!isRecord(found)) return undefined
  return Object.fromEntries(Object.entries(found).map(([name, mark]) => [name, String(mark)]))
}

/** The names that bear another mark now, and those that are gone. What came since is not among them. */
interface Changed {
  changed: readonly string[]
  gone: readonly string[]
}

function changedMarks(before: Marks, after: Marks): Changed {
  const names = Object.keys(before)
  return {
    changed: names.filter((name) => after[name] !== undefined && after[name] !== before[name]),
    gone: names.filter((name) => after[name] === undefined),
  }
}

/** The spec of the HyperConverged in one of its versions; the API server converts it to that one later as well. */
interface KeptSpec {
  version: string
  leaves: Leaves
}

/** Throws what `storedHyperConverged` throws. */
async function specNow(reader: Reader, version?: string): Promise<KeptSpec> {
  const kind =
    version === undefined ? (await storedHyperConverged(reader)).kind : atVersion(HyperConvergeds, version)
  const [hyperconverged] = await reader.list(kind)
  return { version: kind.apiVersion.split('/').at(-1) ?? '', leaves: leavesOf(hyperconverged?.spec ?? {}) }
}

/** As it was when the window was opened, or as it is now where nothing was kept yet. Throws what `storedHyperConverged` throws. */
export async function hyperConvergedBefore({ reader, journal }: Reading, name: string): Promise<KeptSpec> {
  const found = await journal.kept(windowKey(name, 'hyperconverged'))
  if (!isRecord(found) || typeof found['version'] !== 'string' || !isRecord(found['leaves']))
    return specNow(reader)
  return { version: found['version'], leaves: found['leaves'] as Leaves }
}

/** What kvup borrows and gives back. */
const overrides = /workloadUpdateMethods$/u

/**
 * Fields of its spec that read otherwise now: its operator rewrites some in each upgrade, which is listed and not reverted (night E13). A line
 * for each. Throws ApiError, 404 where that version is served no more.
 */
export async function rewrittenFields(reader: Reader, before: KeptSpec): Promise<readonly string[]> {
  const { leaves } = await specNow(reader, before.version)
  return fieldChanges(before.leaves, leaves)
    .filter(({ path }) => !overrides.test(path))
    .map(({ path, from, to }) => `${path} was ${leafText(from)}, is ${leafText(to)}`)
}

const leafText = (leaf: Leaf | undefined): string => (leaf === undefined ? 'absent' : JSON.stringify(leaf))

/** The journal has other things to keep, and a part of them would make old alerts new ones. */
const mostAlerts = 200

const keepable = (fired: Fired): Fired =>
  'firing' in fired && fired.firing.length > mostAlerts
    ? { why: `they were ${fired.firing.length}, but kvup saves at most ${mostAlerts}` }
    : fired

/** As it was when the window was opened, or as it is now where nothing was kept yet. */
export async function alertsBefore({ reader, journal }: Reading, name: string): Promise<Fired> {
  const found = await journal.kept(windowKey(name, 'alerts'))
  if (!isRecord(found)) return firedNow(reader)
  if (Array.isArray(found['firing'])) return { firing: found['firing'].map(String) }
  return { why: String(found['why']) }
}

/** What was chosen for a window from a graph, a catalog or a sealed plan: whoever goes on without the files goes on to the same releases. As a plan has it. */
interface ChosenPath {
  hops: readonly { minor: string; platform: { version: string; image?: string } }[]
  operator: { path: readonly string[] }
}

/** What of a plan is known, and not only what is offered at present. Undefined where nothing is. */
function pathToKeep({
  hops,
  plan,
}: {
  hops: readonly EusHop[]
  plan: Pick<EusPlan, 'operator'>
}): ChosenPath | undefined {
  const known = hops.flatMap(({ minor, platform: { version, image, unproven } }) =>
    version === undefined || unproven
      ? []
      : [{ minor, platform: { version, ...(image !== undefined && { image }) } }],
  )
  const path = plan.operator?.path ?? []
  return known.length === 0 && path.length < 2 ? undefined : { hops: known, operator: { path } }
}

/** All of it is part of what is kept: hops that are behind are kept on. */
function covers(kept: ChosenPath | undefined, path: ChosenPath): boolean {
  if (kept === undefined) return false
  const isKept = (hop: Hop) => kept.hops.some((one) => isSame(one, hop))
  return path.hops.every(isKept) && path.operator.path.every((csv) => kept.operator.path.includes(csv))
}

type Hop = ChosenPath['hops'][number]

/** The hop that is under way is seen without its image. */
const isSame = (kept: Hop, { minor, platform: { version, image } }: Hop): boolean =>
  kept.minor === minor &&
  kept.platform.version === version &&
  (image === undefined || image === kept.platform.image)

/** Beside what was kept before: a value that is kept is never overwritten, and the last one counts. */
async function keepPath(journal: Journal, name: string, path: ChosenPath): Promise<void> {
  let at = 0
  while ((await journal.kept(windowKey(name, `way/${at}`))) !== undefined) at++
  await journal.keep(windowKey(name, `way/${at}`), path)
}

/** The last that was kept. */
export async function pathKept(journal: JournalReader, name: string): Promise<ChosenPath | undefined> {
  let last: ChosenPath | undefined
  for (let at = 0; ; at++) {
    const found = await journal.kept(windowKey(name, `way/${at}`))
    if (found === undefined) return last
    if (isPath(found)) last = found
  }
}

function isPath(found: unknown): found is ChosenPath {
  if (!isRecord(found) || !Array.isArray(found['hops'])) return false
  const { operator } = found
  return isRecord(operator) && Array.isArray(operator['path'])
}

/** Writes down the releases that were chosen with a graph, a catalog or a sealed plan, so that a window that is open stays on its way without them. */
export function keepChosenPath(window: Pick<EusWindow, 'name' | 'hops' | 'plan'>): Step {
  const { name } = window
  const path = pathToKeep(window)
  return {
    id: 'keep-path',
    title: 'save the chosen releases',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      if (path === undefined || covers(await pathKept(journal, name), path)) return { is: 'done' }
      return { is: 'todo', change: 'save the releases of the upgrade path in the journal' }
    },
    async apply({ journal }) {
      if (path !== undefined) await keepPath(journal, name, path)
    },
  }
}

/**
 * An open window goes on to the releases that were chosen when it was opened, unless a file that was typed now says others. What was installed beside the path
 * has left it, and is judged by what is seen.
 */
export function onKeptPath(
  window: EusWindow,
  kept: ChosenPath | undefined,
  typed: { graphFile?: string; catalogFile?: string },
): EusWindow {
  if (kept === undefined) return window
  const document = { hops: kept.hops }
  const hops = typed.graphFile === undefined ? asSealed(window.hops, document) : window.hops
  return withPath({ ...window, hops }, typed.catalogFile === undefined ? keptPath(window, kept) : undefined)
}

/** Where it leads further than what is seen. */
function keptPath(
  { plan: { operator } }: EusWindow,
  { operator: { path } }: ChosenPath,
): readonly string[] | undefined {
  const at = path.indexOf(operator?.csv ?? '')
  const ahead = at < 0 ? 0 : path.length - at
  return ahead > 0 && ahead >= (operator?.path?.length ?? 0) ? path : undefined
}

/** Release and image of each hop as a sealed plan has them: exactly these are asked for, or none. By minor and place from the end. */
export function asSealed(
  hops: readonly EusHop[],
  document: Readonly<Record<string, unknown>>,
): readonly EusHop[] {
  const sealed = Array.isArray(document['hops']) ? document['hops'].filter(isRecord) : []
  return hops.map((hop, at) => {
    // Of one minor those that are left are the last ones.
    const behind = hops.slice(at + 1).filter(({ minor }) => minor === hop.minor).length
    const found = sealed.filter((one) => one['minor'] === hop.minor).at(-1 - behind)?.['platform']
    return isRecord(found) && typeof found['version'] === 'string'
      ? { ...hop, platform: platformOf(hop.platform, found) }
      : hop
  })
}

function platformOf(now: PlatformStop, found: Readonly<Record<string, unknown>>): PlatformStop {
  const { image: _, unproven: __, ...rest } = now
  const { version, image, unproven } = found
  return {
    ...rest,
    version: String(version),
    ...(typeof image === 'string' && { image }),
    ...(unproven === true && { unproven }),
  }
}

/** The operator's path as a sealed plan has it: no other CSV is approved. Undefined where it has none. */
export function sealedPath(document: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const { operator } = document
  const path = isRecord(operator) ? operator['path'] : undefined
  return Array.isArray(path) ? path.map(String) : undefined
}

/** The same window, whose operator goes by that path. */
export function withPath<T extends Pick<EusWindow, 'plan'>>(
  window: T,
  path: readonly string[] | undefined,
): T {
  const { plan } = window
  if (path === undefined || plan.operator === undefined) return window
  return { ...window, plan: { ...plan, operator: { ...plan.operator, path } } }
}

/** What the steps of a window that have begun under the plan's uid leave behind in the facts that it is sealed by. */
export function windowWork(begun: ReadonlySet<string>): OwnWork {
  const has = (start: string) => [...begun].some((step) => step.startsWith(start))
  return ({ id }, { path }) => rules[id]?.(path, has) ?? false
}

type Has = (start: string) => boolean
type Rule = (path: FieldChange['path'], has: Has) => boolean

const rules: Readonly<Record<string, Rule>> = {
  pools(path, has) {
    const pool = /^(?<name>.+)\.paused$/u.exec(path)?.groups?.['name']
    return pool !== undefined && (has(`pause-${pool}`) || has(`unpause-${pool}`))
  },
  platform: (path, has) =>
    path === 'spec.channel' ? has('channel-') : has('request-') && /desired/u.test(path),
  // Which CSV is installed follows the platform, whoever approves it.
  subscription: (path, has) =>
    path === 'spec.channel'
      ? has('operator-channel-')
      : path === 'status.installedCSV'
        ? has('request-')
        : path.endsWith('installPlanApproval') && has('approval'),
  // Its operator rewrites parts of it when it is upgraded, which follows the platform (night E13).
  hyperconverged: (path, has) =>
    has('request-') || (path.includes('workloadUpdateStrategy') && has('pause-workload-updates')),
}
