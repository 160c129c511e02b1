import type { RehearsedStep } from '../../procedure/rehearse.ts'
import { valueText } from '../../system/value-text.ts'
import type { EffectiveSetting } from '../../workloads/strategy/effective-settings.ts'
import type { Column, Document, View } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { rehearsedLines } from './rehearsed-steps.ts'
import type { OwnerInDocument } from './workloads-held.ts'

/** `kvup workloads strategy show` and `set`. */
export interface WorkloadStrategyDocument extends Document {
  kind: 'WorkloadStrategy'
  kubevirt: { name: string; namespace: string }
  /** Where the settings are written. */
  owner: OwnerInDocument
  /** Of KubeVirt, which decides what the defaults are. */
  version?: string
  /** The methods are borrowed: what they were, by whom, since when. */
  held?: { methods: readonly string[]; by: string; at: string }
  /** Only of `set`. `rehearsed`: a dry run. */
  outcome?: 'set' | 'already-so' | 'rehearsed'
  /** What the choice means for these VMs; only of a dry run, for else it is said before the question. */
  said?: readonly string[]
  /** In effect now; after a `set` as they were read back. */
  items: readonly EffectiveSetting[]
  dryRun?: 'client' | 'server'
  steps?: readonly RehearsedStep[]
}

export const workloadStrategyView: View<WorkloadStrategyDocument> = {
  text(document, paint, size) {
    const { outcome, items, said = [], steps = [], dryRun = 'client', owner } = document
    const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
    if (outcome === 'rehearsed')
      return [...rehearsedLines({ steps, mode: dryRun }, paint, size), ...fitted(said)]
    const ended =
      outcome && { set: 'set, and in effect', 'already-so': 'already so, nothing was changed' }[outcome]
    return [
      ...(ended === undefined ? [] : [`${paint.mark.done} ${ended}`, '']),
      ...fitted([
        `${owner.kind} ${owner.namespace}/${owner.name} (${owner.apiVersion}) owns them`,
        ...heldLines(document),
      ]),
      '',
      ...table(columns, items, { ...size, paint }),
      ...fitted(noteLines(items)),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `setting/${name}`),
}

const columns: readonly Column<EffectiveSetting>[] = [
  { name: 'SETTING', cell: ({ name }) => name },
  { name: 'VALUE', cell: withUnit, tone: () => 'strong' },
  {
    name: 'FROM',
    cell: ({ origin }) => origin,
    tone: ({ origin }) => (origin === 'default' ? 'dim' : undefined),
  },
  { name: 'FIELD', cell: ({ path }) => path, wide: true },
]

function withUnit({ value, unit }: EffectiveSetting): string {
  if (unit === 'seconds') return `${valueText(value)} s`
  if (unit === undefined) return valueText(value)
  return /^0[a-zA-Z]*$/u.test(String(value)) ? 'no limit' : `${valueText(value)}/s`
}

function heldLines({ held }: WorkloadStrategyDocument): readonly string[] {
  if (held === undefined) return []
  return [
    `held by ${held.by} since ${held.at}; kept: ${held.methods.join(', ')}`,
    'kvup workloads restore     gives them back',
  ]
}

function noteLines(items: readonly EffectiveSetting[]): readonly string[] {
  const notes = items.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]))
  return notes.length === 0 ? [] : ['', ...notes]
}
