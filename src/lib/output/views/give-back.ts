import type { View } from '../printer.ts'

/** The end of `kvup workloads restore`. */
export interface GiveBackDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'GiveBack'
  kubevirt: { name: string; namespace: string }
  outcome: 'nothing-borrowed' | 'given-back' | 'left-as-it-is'
  /** workloadUpdateMethods as they are now. */
  methods: readonly string[]
}

export const giveBackView: View<GiveBackDocument> = {
  text({ outcome, methods }, { mark }) {
    const now = methods.length > 0 ? methods.join(', ') : 'none'
    if (outcome === 'given-back')
      return [`${mark.done} workload updates are given back and read back: ${now}`]
    if (outcome === 'left-as-it-is') return [`${mark.done} left as they are (${now}); the loan is closed`]
    return [
      `nothing is borrowed; workloadUpdateMethods: ${now}`,
      ...(methods.length === 0
        ? ['kvup did not empty them and does not guess; set what is wanted on the KubeVirt CR']
        : []),
    ]
  },
  names: ({ kubevirt }) => [`kubevirt.kubevirt.io/${kubevirt.name}`],
}
