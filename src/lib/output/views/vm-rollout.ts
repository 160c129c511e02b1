import type { RehearsedStep } from '../../procedure/rehearse.ts'
import type { RolloutOrigin } from '../../workloads/rollout/rollout-origin.ts'
import type { RolloutStrategy, VmRollout } from '../../workloads/rollout/vm-rollout.ts'
import type { Document, Paint, View } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'

/** `kvup rollout show` and `set`. */
export interface VmRolloutDocument extends Document {
  kind: 'VmRollout'
  kubevirt: { name: string; namespace: string; version?: string }
  /** In effect now; after a `set` as it was read back. */
  strategy: RolloutStrategy
  /** What that means for a running VM. */
  meaning: string
  origin: RolloutOrigin['from']
  /** What the field says; absent where nobody says it. */
  configured?: string
  /** Of this version of KubeVirt. */
  byDefault: RolloutStrategy
  path: string
  gate: VmRollout['gate']
  notes: readonly string[]
  /** Only of `set`. `rehearsed`: a dry run. */
  outcome?: 'set' | 'already-so' | 'rehearsed'
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
  /** What the choice means; only of a dry run, for else it is said before the question. */
  said?: readonly string[]
}

export const vmRolloutView: View<VmRolloutDocument> = {
  text(document, paint, size) {
    const { outcome, steps = [], said = [], dryRun = 'client', strategy, meaning, path } = document
    if (outcome === 'rehearsed')
      return [
        ...rehearsedLines({ steps, mode: dryRun }, paint, size),
        ...said.flatMap((line) => wrap(noteText(line, paint), size.columns)),
      ]
    const ended =
      outcome && { set: 'set, and in effect', 'already-so': 'already so, nothing was changed' }[outcome]
    const lines = [
      ...(ended === undefined ? [] : [`${paint.mark.done} ${ended}`]),
      `${paint.strong(strategy)} (${originText(document)}): ${meaning}`,
      ...(size.wide ? [`field: ${path}; default of this version: ${document.byDefault}`] : []),
      ...document.notes.map((note) => noteText(note, paint)),
    ]
    return lines.flatMap((line) => wrap(line, size.columns))
  },
  names: ({ kubevirt: { name } }) => [`kubevirt.kubevirt.io/${name}`],
}

/** A command that helps stands behind an arrow, as everywhere. */
function noteText(note: string, { mark }: Paint): string {
  return note.startsWith('kvup ') ? `  ${mark.next} ${note}` : note
}

function originText({
  origin,
  kubevirt: { name, version },
  configured,
  strategy,
}: VmRolloutDocument): string {
  if (origin === 'annotation') return 'from an annotation of the HyperConverged'
  if (origin === 'HyperConverged') return 'from HyperConverged'
  if (origin === 'default' || configured !== strategy)
    return `what KubeVirt ${version ?? ''} does by itself`.replace('  ', ' ')
  return `from KubeVirt ${name}`
}
