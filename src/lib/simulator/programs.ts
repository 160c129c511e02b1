import type { Pod } from '../cluster/kinds/pods.ts'
import { components } from './hyperconverged/component-kinds.ts'
import { runComponentOperator } from './hyperconverged/component-operator.ts'
import { runConversion } from './hyperconverged/conversion.ts'
import { runHyperConvergedOperator } from './hyperconverged/hco-operator.ts'
import { podNames } from './hyperconverged/names.ts'
import { selfContext } from './hyperconverged/operator-self.ts'
import type { ControllerContext } from './machinery/controller.ts'
import type { Faults } from './machinery/faults.ts'
import type { PodLogs } from './machinery/pod-logs.ts'
import type { Program } from './machinery/program.ts'
import type { SimulationFaults } from './simulation-faults.ts'
import { runOperator } from './virt-operator/operator.ts'
import { dumpStrategy } from './virt-operator/strategy-dumper.ts'
import { runVirtController } from './virt-operator/virt-controller/program.ts'

export interface ProgramWorld {
  readonly faults: Faults<SimulationFaults>
  readonly logs: PodLogs
  /** A client of the cluster that ends with the signal. */
  readonly as: (fieldManager: string, user: string, signal: AbortSignal) => ControllerContext
}

/** What a pod runs, by its labels; undefined where it is only a name. */
export function programOf(pod: Pod, world: ProgramWorld): Program | undefined {
  const { 'kubevirt.io': component = '', name = '' } = pod.metadata.labels ?? {}
  return kubeVirtProgram(component, world) ?? hyperConvergedProgram(name, world)
}

function kubeVirtProgram(component: string, world: ProgramWorld): Program | undefined {
  const operator = (pod: Pod, signal: AbortSignal) =>
    world.as('virt-operator', account(pod, 'kubevirt-operator'), signal)
  switch (component) {
    case 'virt-operator':
      return (pod, signal) => endless(runOperator(operator(pod, signal), pod, world), signal)
    case 'virt-operator-strategy-dumper':
      return (pod, signal) => dumpStrategy(operator(pod, signal), pod)
    case 'virt-controller':
      return (pod, signal) =>
        endless(
          runVirtController(world.as('virt-controller', account(pod, 'kubevirt-controller'), signal), pod),
          signal,
        )
    default:
      return undefined
  }
}

function hyperConvergedProgram(name: string, world: ProgramWorld): Program | undefined {
  const { faults } = world
  const own = (pod: Pod, signal: AbortSignal) => {
    const cx = world.as(name, account(pod, name), signal)
    return selfContext({ ...cx, wakes: (ring) => faults.onChange(ring, signal) }, pod, faults)
  }
  if (name === podNames.operator)
    return (pod, signal) => endless(runHyperConvergedOperator(own(pod, signal)), signal)
  if (name === podNames.webhook) return (pod, signal) => endless(runConversion(own(pod, signal)), signal)
  const component = components.find(({ operator }) => operator === name)
  if (component === undefined) return undefined
  return (pod, signal) => endless(runComponentOperator(own(pod, signal), component), signal)
}

const account = ({ metadata }: Pod, name: string): string =>
  `system:serviceaccount:${metadata.namespace}:${name}`

/** A program that ends with its pod has no exit code. */
async function endless(work: Promise<void>, signal: AbortSignal): Promise<undefined> {
  try {
    await work
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
