import { asFarAsRead } from '../../kube/errors.ts'
import type { Reader } from '../../kube/cluster.ts'
import {
  allWords,
  type FiringAlert,
  firingAlerts,
  isExpected,
  isGrave,
} from '../../openshift/firing-alerts.ts'

/** Warnings and what is grave; what belongs to VMs that are outdated is of no wave. */
const isCounted = (alert: FiringAlert): boolean =>
  !isExpected(alert.name) && (isGrave(alert) || alert.severity === 'warning')

/** Alerts that began to fire in a run of waves: while there are any no wave begins. Where there is no platform nobody is asked, and none is there. */
export class WaveAlerts {
  readonly #reader: Reader
  readonly #warn: (line: string) => void
  #before: readonly string[] | undefined
  #isTold = false

  /** `warn` is told once where alerts cannot be read. */
  constructor(reader: Reader, warn: (line: string) => void) {
    this.#reader = reader
    this.#warn = warn
  }

  /** Before the first change. */
  async begin(): Promise<void> {
    this.#before = await this.#read()
  }

  /** Those that fire now and did not then, in words; none where either is not known. */
  async since(): Promise<readonly string[]> {
    const before = this.#before
    if (before === undefined) return []
    const now = (await this.#read()) ?? []
    return now.filter((one) => !before.includes(one))
  }

  async #read(): Promise<readonly string[] | undefined> {
    const served = await asFarAsRead(this.#reader.versions('config.openshift.io'))
    if (served?.length === 0) return undefined
    const alerts = await firingAlerts(this.#reader)
    if (alerts.known) return allWords(alerts.items.filter(isCounted))
    if (!this.#isTold) this.#warn(`alerts cannot be read, and so no wave waits for one: ${alerts.why}`)
    this.#isTold = true
    return undefined
  }
}
