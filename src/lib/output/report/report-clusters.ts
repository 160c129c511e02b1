import { spanText } from '../../kube/duration.ts'
import { groupName } from '../views/fleet-words.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './fields.ts'
import { type ReportTable, tableOf } from './report-table.ts'

/** Of a document that is of one cluster: none. */
export function clustersOf(document: Fields): ReportTable | undefined {
  if (document['kind'] === 'FleetPlan')
    return tableOf(
      'Clusters',
      ['Cluster', 'Group', 'From', 'Method', 'Takes at most', 'Against it'],
      listOf(document['clusters']).map(planRow),
    )
  if (document['kind'] === 'FleetCheck')
    return tableOf(
      'Clusters',
      ['Cluster', 'Check', 'Version', 'Blockers', 'Warnings', 'Not checked', 'Why'],
      listOf(document['items']).map((one) =>
        cellsOf(one, ['name', 'state', 'version', 'blockers', 'warnings', 'notChecked']).concat(
          textOf(fieldsOf(one['error'])['message']) ?? textOf(listOf(one['findings'])[0]?.['summary']) ?? '',
        ),
      ),
    )
  if (document['kind'] === 'FleetStatus')
    return tableOf(
      'Clusters',
      ['Cluster', 'State', 'Version', 'VMs', 'Outdated', 'Why'],
      listOf(document['items']).map((one) =>
        cellsOf(one, ['name', 'state', 'version', 'vms', 'outdated', 'why']),
      ),
    )
  return undefined
}

const cellsOf = (one: Fields, keys: readonly string[]): readonly string[] =>
  keys.map((key) => textOf(one[key]) ?? '')

function planRow(one: Fields): readonly string[] {
  const plan = fieldsOf(one['plan'])
  const most = numberOf(fieldsOf(plan['time'])['highSeconds'])
  const against = listOf(plan['findings']).filter(({ level }) => level !== 'info')
  const ids = new Set(against.flatMap(({ id }) => textOf(id) ?? []))
  return [
    nameOf(one),
    groupName(numberOf(one['group'])),
    textOf(plan['from']) ?? '',
    textOf(plan['method']) ?? '',
    plan['pending'] === false ? 'nothing to do' : most === undefined ? 'not known' : spanText(most * 1000),
    textOf(fieldsOf(one['error'])['message']) ?? [...ids].join(', '),
  ]
}

const nameOf = ({ name }: Fields): string => textOf(name) ?? ''

/** What speaks against clusters of a fleet, each finding once, with its clusters. */
export function fleetFindings(document: Fields): readonly Fields[] {
  const found = [...listOf(document['clusters']), ...listOf(document['items'])].flatMap((one) => {
    // Of a plan; a check has its findings itself.
    const plan = one['plan'] === undefined ? one : fieldsOf(one['plan'])
    const accepted = new Set(listOf(plan['accepted']).map(({ id }) => id))
    return listOf(plan['findings']).map((finding) => ({
      name: nameOf(one),
      finding: { ...finding, ...(accepted.has(finding['id']) && { accepted: true }) } as Fields,
    }))
  })
  const keyOf = ({ finding: { id, accepted } }: (typeof found)[number]) =>
    `${String(id)} ${accepted === true}`
  return [...Map.groupBy(found, keyOf).values()].map((alike): Fields => {
    const objects = alike.map(({ name }) => `cluster/${name}`)
    return Object.assign({}, alike[0]?.finding, { objects })
  })
}
