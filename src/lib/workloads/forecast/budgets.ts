import type { Reader } from '../../cluster/cluster.ts'
import { type PodDisruptionBudget, PodDisruptionBudgets } from '../../cluster/kinds/core.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { type LabelTest, parseLabels } from '../../cluster/label-selector.ts'
import { readAhead } from '../../cluster/read-ahead.ts'
import { controllerOf } from '../outdated/behind.ts'
import { selectorText } from './selector-text.ts'

interface Budget {
  name: string
  selects: LabelTest
}

/** PodDisruptionBudgets that allow no eviction now, by namespace. */
export type Budgets = ReadonlyMap<string, readonly Budget[]>

/** Throws ApiError. */
export async function readBudgets(reader: Reader): Promise<Budgets> {
  const found = new Map<string, Budget[]>()
  for await (const { items } of readAhead(reader.pages(PodDisruptionBudgets)))
    for (const budget of items) {
      if ((budget.status?.disruptionsAllowed ?? 1) > 0) continue
      const { namespace = '', name } = budget.metadata
      found.set(namespace, [...(found.get(namespace) ?? []), { name, selects: testOf(budget) }])
    }
  return found
}

function testOf({ spec }: PodDisruptionBudget): LabelTest {
  if (spec?.selector === undefined) return () => false
  return parseLabels(selectorText(spec.selector), (why) => new Error(why))
}

/** The budget that forbids the eviction of its launcher; its pod has the labels of the VMI. Pure. */
export function forbiddenBy(budgets: Budgets, vmi: VirtualMachineInstance): string | undefined {
  const { namespace = '', name, uid = '', labels } = vmi.metadata
  const owner = controllerOf(vmi)
  const own = {
    ...labels,
    'kubevirt.io': 'virt-launcher',
    'kubevirt.io/created-by': uid,
    'vmi.kubevirt.io/id': name,
    ...(owner?.kind === 'VirtualMachine' && { 'vm.kubevirt.io/name': owner.name }),
  }
  return budgets.get(namespace)?.find(({ selects }) => selects(own))?.name
}
