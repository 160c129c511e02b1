import type { Condition, Kind, KubeObject } from '../../lib/kube/object.ts'
import { custom, type SimKind } from '../api/kinds/sim-kind.ts'
import { type ComponentKind, pollEvery, type Self } from './hyperconverged-context.ts'
import { between, control, foundIn, sameStatus, seconds } from '../machinery/controller.ts'
import { dated } from './hyperconverged-status.ts'

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
  readonly kind: Kind<ComponentResource> & { readonly kind: ComponentKind }
  /** Of its one object. */
  readonly name: string
  /** Label `name` of its operator's pods. */
  readonly operator: string
}

/** In the order in which HyperConverged sees to them, behind KubeVirt. */
export const components: readonly Component[] = [
  {
    kind: { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'CDI', plural: 'cdis', namespaced: false },
    name: 'cdi-kubevirt-hyperconverged',
    operator: 'cdi-operator',
  },
  {
    kind: {
      apiVersion: 'networkaddonsoperator.network.kubevirt.io/v1',
      kind: 'NetworkAddonsConfig',
      plural: 'networkaddonsconfigs',
      namespaced: false,
    },
    name: 'cluster',
    operator: 'cluster-network-addons-operator',
  },
  {
    kind: { apiVersion: 'ssp.kubevirt.io/v1beta3', kind: 'SSP', plural: 'ssps', namespaced: true },
    name: 'ssp-kubevirt-hyperconverged',
    operator: 'ssp-operator',
  },
]

export const componentKinds = (): SimKind[] => components.map(({ kind }) => custom(kind))

type Status = NonNullable<ComponentResource['status']>

/** The operator of a component: brings it to its own version within a quarter of a minute or so, and says what it says of itself. */
export function runComponentOperator(cx: Self, { kind, name }: Component): Promise<void> {
  const takes = between(cx.random, 10_000, 20_000)
  const ref = { name, ...(kind.namespaced ? { namespace: cx.self.namespace } : {}) }
  return control(cx, [{ kind }], async () => {
    const found = foundIn(await cx.reader.get(kind, ref))
    if (found === undefined) return pollEvery
    const { status = {}, metadata } = found
    const left = timeLeft(cx, status, takes)
    const wanted = { ...versions(cx, status, left), observedGeneration: metadata.generation ?? 1 }
    const told = conditionsOf(cx, kind.kind, wanted)
    const dates = { now: seconds(cx), generation: metadata.generation ?? 1 }
    const next: Status = { ...wanted, conditions: dated(told, status.conditions ?? [], dates) }
    if (!sameStatus(status, next)) await cx.writer.mergePatch(kind, ref, { status: next }, 'status')
    return left > 0 ? Math.min(left, pollEvery) : pollEvery
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

function versions({ self }: Self, { observedVersion }: Status, left: number): Status {
  const { version } = self
  const observed = left === 0 ? version : observedVersion
  return {
    operatorVersion: version,
    targetVersion: version,
    ...(observed === undefined ? {} : { observedVersion: observed }),
  }
}

function conditionsOf(cx: Self, component: string, { observedVersion }: Status): Condition[] {
  const { version } = cx.self
  const under = observedVersion !== version
  const message =
    observedVersion === undefined ? `Deploying ${version}` : `Started upgrade to version ${version}`
  const states = new Map<string, Condition>()
  const put = (type: string, status: 'True' | 'False', words?: string): unknown =>
    states.set(type, { type, status, ...(words === undefined ? {} : { reason: 'Reported', message: words }) })
  put('Available', observedVersion === undefined ? 'False' : 'True', under ? message : undefined)
  put('Progressing', under ? 'True' : 'False', under ? message : undefined)
  put('Degraded', 'False')
  for (const fault of cx.faults.on.components ?? []) {
    if (fault.component !== component) continue
    const [type, status] = troubles[fault.is]
    put(type, status, fault.message)
  }
  return [...states.values()]
}

const troubles = {
  progressing: ['Progressing', 'True'],
  degraded: ['Degraded', 'True'],
  unavailable: ['Available', 'False'],
  'not-upgradeable': ['Upgradeable', 'False'],
} as const
