import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { Jobs } from '../../src/lib/kube/kinds/workload-kinds.ts'
import {
  CatalogSources,
  ClusterServiceVersions,
  copiedFromLabel,
  InstallPlans,
  OperatorConditions,
  PackageManifests,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { OlmShape } from '../../src/simulator/olm/olm-shape.ts'
import { csvName, type Lifecycle, lifecycle, phaseOf } from '../lib/simulator/olm/lifecycle.ts'
import type { Line } from './read.ts'

const kinds: readonly Kind[] = [
  Subscriptions,
  InstallPlans,
  ClusterServiceVersions,
  CatalogSources,
  OperatorConditions,
  Jobs,
  PackageManifests,
]

/** A simulated OLM, and what it does from now on in the format of the recordings. */
export interface PlayedOlm extends Lifecycle {
  lines: Line[]
}

export async function playOlm(shape: OlmShape): Promise<PlayedOlm> {
  const olm = await lifecycle(shape)
  const lines: Line[] = []
  const start = olm.clock.now().getTime()
  for (const kind of kinds) {
    for (const object of olm.store.list(kind).items) lines.push({ t: 0, type: 'ADDED', object })
    olm.store.watch(kind, ({ type, object }) =>
      lines.push({ t: olm.clock.now().getTime() - start, type, object }),
    )
  }
  return Object.assign(olm, { lines })
}

/** A hop from its plan to the moment in which OLM has forgotten the release before. */
export async function playHop(olm: PlayedOlm, { from, to }: { from: string; to: string }): Promise<void> {
  const plan = () => olm.plans().find(({ spec }) => spec?.clusterServiceVersionNames?.includes(to) === true)
  await olm.until('there is a plan', () => phaseOf(plan()) === 'RequiresApproval')
  await olm.clock.sleep(5000)
  await olm.approve(plan())
  await olm.until('the old one is gone', () => olm.csv(from) === undefined)
  await olm.until('the plan is complete', () => phaseOf(plan()) === 'Complete')
  await olm.clock.sleep(30_000)
}

type Of<T extends KubeObject> = (object: T) => string | undefined

/** The states of an object one after the other, with the seconds at which it came to them; what says nothing is left out. */
export function statesOf<T extends KubeObject>(
  lines: readonly Line[],
  { kind, name }: { kind: string; name: string },
  state: Of<T>,
): { at: number; is: string }[] {
  const found: { at: number; is: string }[] = []
  for (const { t, object, type } of lines) {
    if (object?.kind !== kind || object.metadata.name !== name) continue
    if (object.metadata.labels?.[copiedFromLabel] !== undefined) continue
    const is = type === 'DELETED' ? 'gone' : state(object as T)
    if (is !== undefined && is !== found.at(-1)?.is) found.push({ at: t / 1000, is })
  }
  return found
}

/** An update of an operator that was recorded, with its span in the recording in seconds. */
export interface RecordedHop {
  recording: string
  from: string
  to: string
  span: readonly [from: number, to: number]
}

/** Those that came to their end. */
export const recordedHops: readonly RecordedHop[] = (
  [
    ['chain-manual', '1.17.0', '1.17.3', [490, 540]],
    ['chain-manual', '1.17.3', '1.18.0', [574, 640]],
    ['scenarios-manual', '1.17.0', '1.17.2', [375, 516]],
    ['scenarios-manual', '1.17.2', '1.17.3', [729, 793]],
    ['scenarios-manual', '1.17.3', '1.17.4', [860, 940]],
    ['scenarios-manual', '1.17.5', '1.17.6', [1751, 1796]],
    ['scenarios-manual', '1.17.6', '1.18.1', [2085, 2150]],
    ['hop-1.18.1-1.18.2', '1.18.1', '1.18.2', [98, 200]],
  ] as const
).map(([recording, from, to, span]) => ({ recording, from: csvName(from), to: csvName(to), span }))

/** The lines between two times of a recording, in seconds, and before them what there was. */
export function between(lines: readonly Line[], from: number, to: number): Line[] {
  const last = new Map<string, Line>()
  for (const line of lines)
    if (line.t < from * 1000 && line.object)
      last.set(`${line.object.kind}/${line.object.metadata.name}`, { ...line, t: from * 1000 })
  const there = [...last.values()].filter(({ type }) => type !== 'DELETED')
  return [...there, ...lines.filter(({ t }) => t >= from * 1000 && t <= to * 1000)]
}
