import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import { custom, type SimKind } from '../api/kinds/sim-kind.ts'
import { between, claim, control, foundIn, mergeStatus, seconds } from '../machinery/controller.ts'
import type { Self } from './hyperconverged-context.ts'
import { dated } from './hyperconverged-status.ts'
import data from './hyperconverged.json' with { type: 'json' }

/** A component beside KubeVirt that HyperConverged makes (ocp 1.5). */
export interface ComponentResource extends KubeObject {
  status?: {
    conditions?: Condition[]
    operatorVersion?: string
    targetVersion?: string
    observedVersion?: string
    observedGeneration?: number
  }
}

export interface Component {
  readonly kind: Kind<ComponentResource>
  /** Of its one object. */
  readonly name: string
  /** Label `name` of its operator's pods. */
  readonly operator: string
}

/** In the order in which HyperConverged sees to them, behind KubeVirt. */
export const components: readonly Component[] = data.components

export const componentKinds = (): SimKind[] => components.map(({ kind }) => custom(kind))

type Status = NonNullable<ComponentResource['status']>

/** The operator of a component: brings it to its own version within a quarter of a minute or so, and says what it says of itself. */
export function runComponentOperator(cx: Self, { kind, name }: Component): Promise<void> {
  const takes = between(cx.random, 10_000, 20_000)
  const { namespace, version } = cx.self
  return control(cx, [{ kind }], async () => {
    const found = foundIn(await cx.reader.get(kind, { name, ...(kind.namespaced && { namespace }) }))
    if (found === undefined) return undefined
    const { status = {}, metadata } = found
    const left = timeLeft(cx, status, takes)
    const observedVersion = left === 0 ? version : status.observedVersion
    const observedGeneration = metadata.generation ?? 1
    const dates = { now: seconds(cx), generation: observedGeneration }
    const conditions = conditionsOf(cx, kind.kind, observedVersion)
    await mergeStatus(cx, kind, found, {
      operatorVersion: version,
      targetVersion: version,
      ...(observedVersion !== undefined && { observedVersion }),
      observedGeneration,
      conditions: dated(conditions, status.conditions ?? [], dates),
    })
    return left > 0 ? left : undefined
  })
}

/** Ms until it is at this version; it has begun when its targetVersion says so. */
function timeLeft(cx: Self, { observedVersion, targetVersion, conditions }: Status, takes: number): number {
  const { version } = cx.self
  if (observedVersion === version) return 0
  if (targetVersion !== version) return takes
  const since = conditions?.find(({ type, status }) => type === 'Progressing' && status === 'True')
  const began = Date.parse(since?.lastTransitionTime ?? seconds(cx))
  return Math.max(0, began + takes - cx.clock.now().getTime())
}

const troubles = {
  progressing: ['Progressing', 'True'],
  degraded: ['Degraded', 'True'],
  unavailable: ['Available', 'False'],
  'not-upgradeable': ['Upgradeable', 'False'],
} as const

function conditionsOf({ self, faults }: Self, component: string, observed: string | undefined): Condition[] {
  const { version } = self
  const isNew = observed === undefined
  const words = isNew ? `Deploying ${version}` : `Started upgrade to version ${version}`
  const because = observed === version ? ([] as const) : (['Reported', words] as const)
  const wrong = (faults.on.components ?? []).filter((fault) => fault.component === component)
  const all = [
    claim('Available', isNew ? 'False' : 'True', ...because),
    claim('Progressing', observed === version ? 'False' : 'True', ...because),
    claim('Degraded', 'False'),
    ...wrong.map(({ is, message }) => {
      const [type, status] = troubles[is]
      return claim(type, status, 'Reported', message)
    }),
  ]
  return [...new Map(all.map((one) => [one.type, one])).values()]
}
