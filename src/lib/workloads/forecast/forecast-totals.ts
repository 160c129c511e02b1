import { type ForecastItem, type Outcome, outcomes } from './forecast-item.ts'

export type Counts = Record<Outcome, number>

/** How many of each, by namespace; those whose outcome is not known are in `total` alone. */
export interface NamespaceTotals {
  namespace: string
  total: number
  byFate: Counts
}

const none = (): Counts => Object.fromEntries(outcomes.map((one) => [one, 0])) as Counts

/** What is kept of the rows once they are printed. */
export class ForecastTotals {
  total = 0
  readonly byFate = none()
  readonly #byNamespace = new Map<string, NamespaceTotals>()

  add({ namespace, will }: ForecastItem): void {
    const there = this.#byNamespace.get(namespace) ?? { namespace, total: 0, byFate: none() }
    this.#byNamespace.set(namespace, there)
    this.total++
    there.total++
    if (will === undefined) return
    this.byFate[will]++
    there.byFate[will]++
  }

  get namespaces(): readonly NamespaceTotals[] {
    return [...this.#byNamespace.values()]
  }
}
