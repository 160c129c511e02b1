import type { HyperConvergedFaults } from './hyperconverged/faults.ts'
import type { OlmFaults } from './olm/faults.ts'
import type { OpenShiftFaults } from './openshift/faults.ts'
import type { OperatorFaults } from './virt-operator/faults.ts'

/** All that can go wrong in a simulated cluster, its API apart. Those of a layer that is not there do nothing. */
export type SimulationFaults = OperatorFaults & HyperConvergedFaults & OlmFaults & OpenShiftFaults
