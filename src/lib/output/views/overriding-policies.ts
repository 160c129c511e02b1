import type { OverriddenSetting, OverridingPolicy } from '../../workloads/strategy/overriding-policies.ts'
import type { Column, Paint, Size } from '../printer.ts'
import { table } from '../table.ts'
import { wrap } from '../wrap.ts'
import { settingText } from './setting-text.ts'

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
    ...wrap('For VMs that a MigrationPolicy selects its values hold, and not those above:', size.columns),
    ...table(columns, rows, { ...size, paint }),
  ]
}

const columns: readonly Column<Row>[] = [
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
