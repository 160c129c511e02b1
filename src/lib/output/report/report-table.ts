import { spanText } from '../../kube/duration.ts'
import { type Fields, fieldsOf, listOf, numberOf, placedName, textOf } from './fields.ts'

/** What is alike, in rows: a cell for each head. */
export interface ReportTable {
  title: string
  heads: readonly string[]
  rows: readonly (readonly string[])[]
  /** What has to be known of it, in sentences. */
  says: readonly string[]
}

/** Undefined without a row. */
export const tableOf = (
  title: string,
  heads: readonly string[],
  rows: ReportTable['rows'],
  says: readonly string[] = [],
): ReportTable | undefined => (rows.length === 0 ? undefined : { title, heads, rows, says })

/** What the rehearsal said that a run was compared with, and what came of it. */
export function rehearsedTable(document: Fields): ReportTable | undefined {
  const rehearsal = fieldsOf(document['rehearsal'])
  const rows = listOf(rehearsal['stages']).map(({ name, rehearsed, took, agrees }) => [
    textOf(name) ?? '',
    secondsText(numberOf(rehearsed)),
    secondsText(numberOf(took)),
    agrees === true
      ? 'yes'
      : agrees === false
        ? (numberOf(took) ?? 0) < (numberOf(rehearsed) ?? 0)
          ? 'faster'
          : 'slower'
        : 'not compared',
  ])
  const heads = ['Stage', 'Rehearsed', 'Happened', 'Agrees']
  return tableOf('Rehearsed and happened', heads, rows, rehearsalNotes(rehearsal))
}

const secondsText = (seconds: number | undefined): string =>
  seconds === undefined ? 'unknown' : spanText(seconds * 1000)

function rehearsalNotes(rehearsal: Fields): readonly string[] {
  const order = `The stages came in ${rehearsal['sameOrder'] === false ? 'another' : 'this'} order.`
  const vms = fieldsOf(rehearsal['vms'])
  const [total, agreed, open] = [numberOf(vms['total']), numberOf(vms['agreed']), numberOf(vms['open']) ?? 0]
  if (total === undefined || agreed === undefined) return [order, 'VMs were not compared.']
  const waiting = open > 0 ? `; KubeVirt has not come to ${open} yet` : ''
  const others = listOf(vms['items'])
    .slice(0, 10)
    .map((vm) => `${placedName(vm)}: rehearsed ${textOf(vm['rehearsed'])}, tried ${textOf(vm['tried'])}`)
  return [order, `With ${agreed} of ${total} VMs KubeVirt tried what was rehearsed${waiting}.`, ...others]
}
