import type { Pod } from '../../cluster/kinds/pods.ts'
import { quantity } from '../../system/quantity.ts'
import type { Resources } from './launcher-resources.ts'

type Quantities = Readonly<Record<string, string>>

interface Asking {
  resources?: { requests?: Quantities }
}

interface AskingPod {
  containers?: readonly Asking[]
  initContainers?: readonly Asking[]
  overhead?: Quantities
}

/** As the scheduler counts: its containers together or its largest init container, and what its runtime takes. Pure. */
export function podRequests({ spec = {} }: Pod): Resources {
  const { containers = [], initContainers = [], overhead } = spec as AskingPod
  const sum: Record<string, number> = {}
  const put = (quantities: Quantities | undefined, join: (before: number, amount: number) => number) => {
    for (const [name, amount] of Object.entries(numbersOf(quantities)))
      sum[name] = join(sum[name] ?? 0, amount)
  }
  for (const { resources } of containers) put(resources?.requests, (before, amount) => before + amount)
  for (const { resources } of initContainers) put(resources?.requests, Math.max)
  put(overhead, (before, amount) => before + amount)
  return { ...sum, pods: 1 }
}

/** What is no quantity counts as 0. */
export function numbersOf(quantities: Quantities = {}): Record<string, number> {
  return Object.fromEntries(Object.entries(quantities).map(([name, text]) => [name, quantity(text) ?? 0]))
}
