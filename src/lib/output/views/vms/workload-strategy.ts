import { valueText } from '../../../kube/text.ts'
import type {
  EffectiveSetting,
  OverriddenSetting,
  OverridingPolicy,
} from '../../../vms/strategy/workload-settings.ts'
import type { Column, Paint, Size, View } from '../../printer.ts'
import { table } from '../../table.ts'
import { wrap, helpLine } from '../../text.ts'
import type { Finding } from '../../../checks/check-definition.ts'
import { dryRunLines } from '../dry-run.ts'
import type { WorkloadStrategyDocument } from '../../../vms/strategy/set-strategy.ts'

export const workloadStrategyView: View<WorkloadStrategyDocument> = {
  text(document, paint, size) {
    const { outcome, items, said = [], steps = [], dryRun = 'client', owner } = document
    const { policies = [], remarks = [], findings = [] } = document
    const fitted = (lines: readonly string[]) => lines.flatMap((line) => wrap(line, size.columns))
    if (outcome === 'dry-run') return [...dryRunLines({ steps, mode: dryRun }, paint, size), ...fitted(said)]
    const ended =
      outcome && { set: 'set, and in effect', 'already-so': 'already so, nothing was changed' }[outcome]
    return [
      ...(ended === undefined ? [] : [`${paint.mark.done} ${ended}`, '']),
      ...fitted([
        `${owner.kind} ${owner.namespace}/${owner.name} (${owner.apiVersion}) owns them`,
        ...heldLines(document, paint),
      ]),
      '',
      ...table(columns, items, { ...size, paint }),
      ...fitted(noteLines(items)),
      ...policyLines(policies, paint, size),
      ...fitted(remarks.flatMap((remark) => ['', `${paint.warn(paint.mark.warning)} ${remark}`])),
      ...fitted(findings.flatMap((finding) => findingLines(finding, paint))),
    ]
  },
  names: ({ items, policies = [] }) => [
    ...items.map(({ name }) => `setting/${name}`),
    ...policies.map(({ name }) => `migrationpolicy/${name}`),
  ],
}

const columns: readonly Column<EffectiveSetting>[] = [
  { name: 'SETTING', cell: ({ name }) => name },
  { name: 'VALUE', cell: settingText, tone: () => 'strong' },
  {
    name: 'FROM',
    cell: ({ origin }) => origin,
    tone: ({ origin }) => (origin === 'default' ? 'dim' : undefined),
  },
  { name: 'FIELD', cell: ({ path }) => path, wide: true },
]

function findingLines({ summary, id, remedy }: Finding, paint: Paint): readonly string[] {
  return [
    '',
    `${paint.bad(paint.mark.failed)} ${summary} (${id})`,
    ...remedy.map((line) => `  ${helpLine(line, paint)}`),
  ]
}

function heldLines({ paused }: WorkloadStrategyDocument, { mark }: Paint): readonly string[] {
  if (paused === undefined) return []
  return [
    `paused by ${paused.by} since ${paused.at}; saved: ${paused.methods.join(', ')}`,
    `  ${mark.next} ${paused.restore}     # resumes them`,
  ]
}

function noteLines(items: readonly EffectiveSetting[]): readonly string[] {
  const notes = items.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]))
  return notes.length === 0 ? [] : ['', ...notes]
}

/** A setting of a policy. */
interface Row extends OverriddenSetting {
  policy: OverridingPolicy
}

/** A row for each setting of each policy; nothing where there is none. */
export function policyLines(
  policies: readonly OverridingPolicy[],
  paint: Paint,
  size: Size,
): readonly string[] {
  if (policies.length === 0) return []
  const rows = policies.flatMap((policy) => policy.overrides.map((setting): Row => ({ ...setting, policy })))
  return [
    '',
    ...wrap('For VMs that a MigrationPolicy selects, its values apply instead:', size.columns),
    ...table(policyColumns, rows, { ...size, paint }),
  ]
}

const policyColumns: readonly Column<Row>[] = [
  { name: 'POLICY', cell: ({ policy }) => policy.name },
  { name: 'SETTING', cell: ({ name }) => name },
  { name: 'VALUE', cell: settingText, tone: () => 'strong' },
  { name: 'SELECTS', holds: 'text', cell: ({ policy }) => selectsText(policy.selects) },
  {
    name: 'MANAGED-BY',
    cell: ({ policy: { manager } }) =>
      manager && [manager.owner ?? manager.kind, manager.name].filter(Boolean).join(' '),
    wide: true,
  },
]

/** Labels of namespaces and of VMs have to be there all together. */
function selectsText(selects: OverridingPolicy['selects']): string {
  if (selects === undefined) return 'no VM: it has no selectors'
  const parts = [...labelsText('namespaces', selects.namespaces), ...labelsText('VMs', selects.instances)]
  return parts.join(' and ') || 'every VM that no other policy selects'
}

function labelsText(whose: string, labels: Readonly<Record<string, string>>): readonly string[] {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? [] : [`${whose} ${pairs.join()}`]
}

/** `150 s`, `64Mi/s`, `no limit`, `LiveMigrate, Evict`. */
function settingText({ value, unit }: Pick<EffectiveSetting, 'value' | 'unit'>): string {
  if (unit === 'seconds') return `${valueText(value)} s`
  if (unit === undefined) return valueText(value)
  return /^0[a-zA-Z]*$/u.test(String(value)) ? 'no limit' : `${valueText(value)}/s`
}
