import type { FleetReport, FleetResult } from '../../fleet/fleet-report.ts'
import { counted } from '../../kube/text.ts'

const words: Readonly<Record<FleetResult['outcome'], string>> = {
  failed: 'failed',
  unreachable: 'unreachable',
  'needs-person': 'needs a person',
  interrupted: 'interrupted',
  'not-begun': 'not begun',
  done: 'done',
  'nothing-to-do': 'nothing to do',
}

/** Each of them, the worst first. */
export const outcomes = Object.keys(words) as FleetResult['outcome'][]

/** What a person calls an outcome. Of one that is not known the text itself. */
export const resultWords = (outcome: string): string =>
  Object.hasOwn(words, outcome) ? words[outcome as FleetResult['outcome']] : outcome

/** `canary`, or the number of the wave. */
export const waveName = (wave: number | undefined): string =>
  wave === undefined ? '-' : wave === 0 ? 'canary' : String(wave)

/** `KubeVirt to v1.8.4 on 3 clusters: 1 failed, 2 done` */
export function fleetReportText({ to, items }: Pick<FleetReport, 'to' | 'items'>): string {
  const counts = outcomes.flatMap((outcome) => {
    const many = items.filter((one) => one.outcome === outcome).length
    return many === 0 ? [] : [`${many} ${words[outcome]}`]
  })
  return `KubeVirt to ${to} on ${counted(items.length, 'cluster')}: ${counts.join(', ')}`
}
