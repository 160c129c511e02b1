import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { Document, View } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'

/** The object that owns the settings: the KubeVirt, or its HyperConverged. */
export interface OwnerInDocument {
  apiVersion: string
  kind: string
  name: string
  namespace: string
}

/** The end of `kvup workloads hold`. */
export interface WorkloadsHeldDocument extends Document {
  kind: 'WorkloadsHeld'
  kubevirt: { name: string; namespace: string }
  owner: OwnerInDocument
  /** `nothing-to-hold`: the methods were empty already, and kvup borrows nothing. `rehearsed`: a dry run. */
  outcome: 'held' | 'already-held' | 'nothing-to-hold' | 'rehearsed'
  /** The methods that are kept. */
  kept: readonly string[]
  /** Who borrowed them, and since when. */
  by?: string
  at?: string
  /** The command that gives them back. */
  giveBack?: string
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
}

export const workloadsHeldView: View<WorkloadsHeldDocument> = {
  text(held, paint, size) {
    const { outcome, kept, by, at, giveBack, steps = [], dryRun } = held
    if (outcome === 'rehearsed') return rehearsedLines({ steps, mode: dryRun ?? 'client' }, paint, size)
    const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
    if (outcome === 'nothing-to-hold')
      return fitted([
        'workloadUpdateMethods is empty already: KubeVirt moves no VM by itself, and kvup borrows nothing',
        `  ${paint.mark.next} kvup workloads strategy set --methods LiveMigrate     # turns workload updates on`,
      ])
    const since = outcome === 'already-held' ? ` by ${by ?? 'kvup'} since ${at ?? 'an unknown time'}` : ''
    return fitted([
      `${paint.mark.done} workload updates are held${since}; kept: ${kept.join(', ')}`,
      'hotplug of CPU, memory and networks and changes of volumes wait meanwhile',
      ...(giveBack === undefined ? [] : [`  ${paint.mark.next} ${giveBack}     # gives them back`]),
    ])
  },
  names: ({ owner }) => [`${owner.kind.toLowerCase()}.${owner.apiVersion.split('/')[0] ?? ''}/${owner.name}`],
}
