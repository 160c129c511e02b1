import { ageAt } from '../age.ts'
import { count } from '../count.ts'
import type { Paint } from '../printer.ts'
import type { OutdatedDocument } from './outdated-workloads.ts'

/** What has to be known besides the rows, a line each. */
export function outdatedRemarks(document: OutdatedDocument, paint: Paint): readonly string[] {
  const { remarks, unread, totals } = document
  const warn = (text: string) => paint.warn(`${paint.mark.warning} ${text}`)
  return [
    ...unread.map(({ namespace, what, why }) =>
      warn(`${what}${namespace === undefined ? '' : ` in namespace ${namespace}`} may not be read: ${why}`),
    ),
    ...remarks.map(warn),
    ...(document.updating
      ? [warn('KubeVirt is being updated: VMs are labelled and moved once that is done, so this is not all')]
      : []),
    ...(totals.old > 0
      ? [warn(`${count(totals.old, 'VM')} on a virt-launcher that is more than a year old`)]
      : []),
    ...heldLines(document),
    ...countLines(document),
    ...alertLines(document),
  ]
}

function heldLines({ held, asOf }: OutdatedDocument): readonly string[] {
  if (held === undefined) return []
  return [
    `workload updates are held by ${held.by} for ${ageAt(held.at, asOf)}; KubeVirt moves nothing meanwhile`,
  ]
}

/** Why KubeVirt's own count is another number (facts 3.2). */
function countLines({ count: apart }: OutdatedDocument): readonly string[] {
  if (apart === undefined || apart.stale || apart.reported === apart.labelled) return []
  if (apart.reported === undefined) return ['KubeVirt has not counted its outdated VMs yet']
  const { hotplug, volumes, unlabelled, notRunning, unexplained } = apart
  const why = [
    ...said(hotplug, 'wait for a hotplug, which is carried out as a migration'),
    ...said(volumes, 'wait for a migration of volumes'),
    ...said(unlabelled, 'not labelled yet'),
    ...said(notRunning, 'labelled, but not running'),
    ...(unexplained === 0 ? [] : ['it is rewritten every few seconds only']),
  ]
  return [`KubeVirt counts ${apart.reported}, ${apart.labelled} are labelled: ${why.join('; ')}`]
}

const said = (n: number, what: string): readonly string[] => (n === 0 ? [] : [`${n} ${what}`])

function alertLines({ alert, asOf }: OutdatedDocument): readonly string[] {
  if (alert === undefined) return []
  const { name, firesFrom, expected } = alert
  const fires =
    firesFrom === undefined
      ? 'fires once they are outdated for 24 h'
      : firesFrom <= asOf
        ? 'fires: they are outdated for 24 h'
        : `fires from ${firesFrom.replace(/\.\d+Z$/u, 'Z')} on`
  return [`alert ${name} ${fires}${expected ? '; that is expected while workload updates are held' : ''}`]
}
