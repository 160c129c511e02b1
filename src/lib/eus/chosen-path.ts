import { isRecord } from '../kube/object.ts'
import type { Journal, JournalReader } from '../engine/journal.ts'
import type { EusHop, EusPlan, PlatformStop } from './plan/eus-plan.ts'
import type { Step, StepState } from '../engine/step.ts'
import { minutes, seconds } from '../kube/clock.ts'
import type { EusWindow } from './window.ts'
import type { FieldChange } from '../kube/field-changes.ts'
import type { OwnWork } from '../engine/sealed-plan.ts'

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
function covers(kept: ChosenPath | undefined, way: ChosenPath): boolean {
  if (kept === undefined) return false
  const isKept = (hop: Hop) => kept.hops.some((one) => isSame(one, hop))
  return way.hops.every(isKept) && way.operator.path.every((csv) => kept.operator.path.includes(csv))
}

type Hop = ChosenPath['hops'][number]

/** The hop that is under way is seen without its image. */
const isSame = (kept: Hop, { minor, platform: { version, image } }: Hop): boolean =>
  kept.minor === minor &&
  kept.platform.version === version &&
  (image === undefined || image === kept.platform.image)

const keyOf = (name: string, at: number): string => `${name}/way/${at}`

/** Beside what was kept before: a value that is kept is never overwritten, and the last one counts. */
async function keepPath(journal: Journal, name: string, way: ChosenPath): Promise<void> {
  let at = 0
  while ((await journal.kept(keyOf(name, at))) !== undefined) at++
  await journal.keep(keyOf(name, at), way)
}

/** The last that was kept. */
export async function pathKept(journal: JournalReader, name: string): Promise<ChosenPath | undefined> {
  let last: ChosenPath | undefined
  for (let at = 0; ; at++) {
    const found = await journal.kept(keyOf(name, at))
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
  const way = pathToKeep(window)
  return {
    id: 'keep-way',
    title: 'keep the releases that were chosen',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      if (way === undefined || covers(await pathKept(journal, name), way)) return { is: 'done' }
      return { is: 'todo', change: 'keep in the journal which releases lie on the way' }
    },
    async apply({ journal }) {
      if (way !== undefined) await keepPath(journal, name, way)
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
    has('request-') || (path.includes('workloadUpdateStrategy') && has('hold-workload-updates')),
}
