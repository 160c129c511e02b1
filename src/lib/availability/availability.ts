import type { Outage, OutageFigures } from './outage-log.ts'
import type { MeasuredVmsReport } from './measured-vms.ts'
import type { ProbeName } from './probes.ts'
import type { JournaledAvailability } from '../engine/journal.ts'
import { secondsText, spanText } from '../kube/duration.ts'

/** What one probe found. */
export interface MeasuredProbe extends OutageFigures {
  probe: ProbeName
  what: string
  calls: number
  /** Why it was not asked at all, or from when on not any more. */
  ended?: { at: string; why: string }
}

/** The section `availability` of the document of a run that was measured. */
export interface Availability {
  /** In one line. */
  summary: string
  /** RFC 3339. */
  begin: string
  end: string
  seconds: number
  /** To the API server, as it was stated before; three watches come on top. */
  callsPerMinute: number
  calls: number
  /**
   * "The control plane remains available throughout", with figures. `partly`: no outage was measured, and not all was measured all the time. `unknown`: no probe of the API was measured to the
   * end.
   */
  promise: { is: JournaledAvailability['promise']; text: string }
  /** Seconds in which kvup itself got no turn, and so asked nothing. */
  notMeasuredSeconds: number
  probes: readonly MeasuredProbe[]
  vms: MeasuredVmsReport
}

const promise = 'the control plane remains available throughout'

/** Whether KubeVirt's promise was kept. Confirmed is only what every probe measured to the end, and all the time. Pure. */
export function promiseOf(
  probes: readonly MeasuredProbe[],
  { seconds, notMeasuredSeconds }: Pick<Availability, 'seconds' | 'notMeasuredSeconds'>,
): Availability['promise'] {
  const ofApi = probes.filter(({ probe }) => probe !== 'api')
  const asked = ofApi.filter(({ ended, calls }) => ended === undefined && calls > 0)
  const missing = ofApi.filter((one) => !asked.includes(one)).map(({ probe }) => probe)
  const unsaid = [
    missing.length > 0 && `; not measured to the end: ${missing.join(', ')}`,
    notMeasuredSeconds > 0 &&
      `; not measured for ${secondsText(notMeasuredSeconds)}, in which this computer gave kvup no turn`,
  ]
    .filter((part) => part !== false)
    .join('')
  const down = ofApi.filter(({ count }) => count > 0)
  if (down.length > 0) {
    const figures = down.map(({ probe, unavailableSeconds: s }) => `${probe} ${secondsText(s)}`).join(', ')
    return { is: 'broken', text: `${promise}: not confirmed, unavailable were ${figures}${unsaid}` }
  }
  if (asked.length === 0)
    return { is: 'unknown', text: `not known whether ${promise}: no probe was measured to the end` }
  const calls = asked.reduce((sum, one) => sum + one.calls, 0)
  const figures = `${calls} calls in ${spanText(seconds * 1000)}`
  return unsaid === ''
    ? { is: 'kept', text: `${promise}: confirmed, ${figures}` }
    : { is: 'partly', text: `${promise}: measured in part, no outage in ${figures}${unsaid}` }
}

const apiText = {
  kept: 'API available throughout',
  partly: 'API available as far as measured',
  unknown: 'API not measured',
}

/** The end of a run in one line: `API unavailable for 10 s; 0 of 12 VMs interrupted`. Pure. */
export function summaryOf({
  probes,
  vms: { notWatched, interrupted, watched, gaps },
  promise: { is },
}: Pick<Availability, 'probes' | 'vms' | 'promise'>): string {
  const ofApi = probes.find(({ probe }) => probe === 'api')
  const { unavailableSeconds = 0, longestSeconds = 0, count = 0 } = ofApi ?? {}
  const inMany = count > 1 ? ` in ${count} outages, the longest ${secondsText(longestSeconds)}` : ''
  const api =
    is === 'broken' ? `API unavailable for ${secondsText(unavailableSeconds)}${inMany}` : apiText[is]
  if (notWatched !== undefined) return `${api}; VMs not watched`
  const lost = `${interrupted.count} of ${watched} ${watched === 1 ? 'VM' : 'VMs'} interrupted`
  return `${api}; ${lost}${gaps === undefined ? '' : ', as far as watched'}`
}

const journaledOutages = 10
const journaledNames = 4

export function journaled({
  summary,
  begin,
  end,
  promise: { is },
  callsPerMinute,
  probes,
  vms,
}: Availability): JournaledAvailability {
  const api = probes.find(({ probe }) => probe === 'api')
  const longest = (api?.outages ?? []).toSorted((a, b) => b.seconds - a.seconds).slice(0, journaledOutages)
  const unavailable = probes.filter(({ count }) => count > 0)
  return {
    text: summary,
    begin,
    end,
    promise: is,
    callsPerMinute,
    unavailable: Object.fromEntries(unavailable.map((one) => [one.probe, one.unavailableSeconds])),
    outages: longest.toSorted((a, b) => a.begin.localeCompare(b.begin)).map(journaledOutage),
    interruptedVms: vms.interrupted.count,
    watchedVms: vms.watched,
    migrations: vms.migrations.count,
  }
}

const journaledOutage = ({ begin, end, rolling }: Outage): JournaledAvailability['outages'][number] => ({
  begin,
  ...(end !== undefined && { end }),
  ...(rolling && { rolling: rolling.slice(0, journaledNames) }),
})
