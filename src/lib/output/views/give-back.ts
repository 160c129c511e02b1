import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { View } from '../printer.ts'
import { rehearsedLines } from './rehearsed-steps.ts'
import type { OwnerInDocument } from './workloads-held.ts'

/** The end of `kvup workloads restore`. */
export interface GiveBackDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'GiveBack'
  kubevirt: { name: string; namespace: string }
  owner: OwnerInDocument
  /** `rehearsed`: a dry run. */
  outcome: 'nothing-borrowed' | 'given-back' | 'left-as-it-is' | 'rehearsed'
  /** workloadUpdateMethods as they are now. */
  methods: readonly string[]
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
}

export const giveBackView: View<GiveBackDocument> = {
  text({ outcome, methods, owner, steps = [], dryRun = 'client' }, paint, size) {
    const now = methods.length > 0 ? methods.join(', ') : 'none'
    if (outcome === 'rehearsed') return rehearsedLines({ steps, mode: dryRun }, paint, size)
    if (outcome === 'given-back')
      return [`${paint.mark.done} workload updates are given back and read back: ${now}`]
    if (outcome === 'left-as-it-is')
      return [`${paint.mark.done} left as they are (${now}); the loan is closed`]
    return [
      `nothing is borrowed; workloadUpdateMethods: ${now}`,
      ...(methods.length === 0
        ? [
            `kvup did not empty them and does not guess; set what is wanted on the ${owner.kind}: kvup workloads strategy set --methods LiveMigrate`,
          ]
        : []),
    ]
  },
  names: ({ kubevirt }) => [`kubevirt.kubevirt.io/${kubevirt.name}`],
}
