import type { Pod } from '../../cluster/kinds/pods.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import type { HyperConvergedFaults } from './faults.ts'

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

function operatorSelf({ metadata, spec }: Pod): OperatorSelf {
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
export interface SelfContext extends ControllerContext {
  readonly self: OperatorSelf
  readonly faults: Faults<HyperConvergedFaults>
}

export function selfContext(
  cx: ControllerContext,
  pod: Pod,
  faults: Faults<HyperConvergedFaults>,
): SelfContext {
  return { ...cx, self: operatorSelf(pod), faults }
}

/** How often what has no event of its own (a fault, a time) is looked at, in ms. */
export const look = 10_000

/** RFC 3339 in whole seconds. */
export const seconds = ({ clock }: Pick<ControllerContext, 'clock'>): string =>
  clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
