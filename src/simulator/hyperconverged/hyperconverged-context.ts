import * as kube from '../kinds.ts'
import { type ControllerContext, foundIn, seconds } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import type { Condition } from '../../lib/kube/object.ts'

/** What a process of a bundle's operators knows of itself, by its environment. */
interface OperatorSelf {
  /** The pod's name. */
  name: string
  namespace: string
  /** Of the bundle: `1.17.3`. */
  version: string
  /** The KubeVirt that it brings: `v1.7.4`. */
  kubevirt: string
  /** The OperatorCondition that is its own; absent where OLM does not run it. */
  condition: string | undefined
}

function operatorSelf({ metadata, spec }: kube.Pod): OperatorSelf {
  const [container] = spec?.containers ?? []
  const env = new Map((container?.env ?? []).map(({ name, value }) => [name, value]))
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    version: env.get('HCO_KV_IO_VERSION') ?? '0.0.0',
    kubevirt: env.get('KUBEVIRT_VERSION') ?? '',
    condition: env.get('OPERATOR_CONDITION_NAME'),
  }
}

/** One of the operators that a bundle of HyperConverged installs, at work. */
export interface Self extends ControllerContext {
  readonly self: OperatorSelf
  readonly faults: Faults<HyperConvergedFaults>
}

export function selfContext(
  cx: ControllerContext,
  pod: kube.Pod,
  faults: Faults<HyperConvergedFaults>,
): Self {
  return { ...cx, self: operatorSelf(pod), faults }
}

/** How often what has no event of its own (a fault, a time) is looked at, in ms. */
export const pollEvery = 10_000

type Said = Pick<Condition, 'status' | 'reason' | 'message'>

/** What the operator says to OLM of its being replaced (ocp 1.8). */
export const upgradeable = {
  starting: {
    status: 'False',
    reason: 'Initializing',
    message: 'The hyperConverged cluster operator is starting up',
  },
  yes: { status: 'True', reason: 'Upgradeable', message: '' },
  upgradingTo: (version: string): Said => ({
    status: 'False',
    reason: 'AlreadyPerformingUpgrade',
    message: `upgrading the hyperConverged cluster operator to version ${version}`,
  }),
} as const

/** Writes it into its OperatorCondition; nothing where that says so already, is not there yet, or OLM does not run it. */
export async function sayUpgradeable(cx: Self, said: Said): Promise<void> {
  const { condition: name, namespace } = cx.self
  if (name === undefined) return
  const found = foundIn(await cx.reader.get(kube.OperatorConditions, { name, namespace }))
  if (found === undefined) return
  const before = found.spec?.conditions ?? []
  const last = before.find(({ type }) => type === 'Upgradeable')
  if (last && says(last, said)) return
  const since = last?.status === said.status ? last.lastTransitionTime : undefined
  const next: Condition = { type: 'Upgradeable', ...said, lastTransitionTime: since ?? seconds(cx) }
  const conditions = [...before.filter(({ type }) => type !== 'Upgradeable'), next]
  await cx.writer.mergePatch(kube.OperatorConditions, { name, namespace }, { spec: { conditions } })
}

const says = (last: Condition, { status, reason, message }: Said): boolean =>
  last.status === status && last.reason === reason && last.message === message

/** What goes wrong with HyperConverged: its operator, its webhook, and the components beside KubeVirt. Plain data. */
export interface HyperConvergedFaults {
  /** Its operator hangs: nothing is passed on to KubeVirt, nothing set back, nothing said. */
  hyperConvergedStopped?: boolean | undefined
  /** Each of its passes ends in this error, in its words (ocp 1.5). */
  reconcileError?: string | undefined
  /** What components other than KubeVirt say of themselves, for as long as it is on. */
  components?: readonly ComponentFault[] | undefined
  /** Its webhook refuses each change: nobody answers it, or the webhook of a component that it tries the change on (hco 7). */
  changesRefused?: 'nobody-answers' | 'dry-run-fails' | undefined
  /** The conversion is missing from the CRD, and hco-webhook does not put it back (hco 8). */
  conversionLost?: boolean | undefined
}

interface ComponentFault {
  readonly component: ComponentKind
  readonly is: 'progressing' | 'degraded' | 'unavailable' | 'not-upgradeable'
  /** In its words. */
  readonly message: string
}

export type ComponentKind = 'CDI' | 'NetworkAddonsConfig' | 'SSP'
