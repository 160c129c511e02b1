import { spanText } from '../../kube/duration.ts'
import { resultWords, waveName } from '../views/fleet-words.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf, textsOf, timeOf } from './fields.ts'
import { type BarTone, type Lane, lane } from './lanes.ts'
import { type ReportTable, tableOf } from './report-table.ts'

/** Of a document that is of one cluster: none. */
export function clustersOf(document: Fields): ReportTable | undefined {
  if (document['kind'] === 'FleetReport')
    return tableOf(
      'Clusters',
      ['Cluster', 'Wave', 'Result', 'From', 'Took', 'Why'],
      listOf(document['items']).map(resultRow),
    )
  if (document['kind'] === 'FleetPlan')
    return tableOf(
      'Clusters',
      ['Cluster', 'Wave', 'From', 'Method', 'Takes at most', 'When', 'Against it'],
      listOf(document['clusters']).map((one) => planRow(one, listOf(document['waves']))),
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

function resultRow(result: Fields): readonly string[] {
  const { begins, ends } = spanOf(result)
  const took = begins === undefined || ends === undefined ? '' : spanText(ends - begins)
  const why = textOf(fieldsOf(result['error'])['message']) ?? ''
  return [
    nameOf(result),
    waveName(numberOf(result['wave'])),
    endOf(result),
    textOf(result['from']) ?? '',
    took,
    why,
  ]
}

function planRow(one: Fields, waves: readonly Fields[]): readonly string[] {
  const name = nameOf(one)
  const plan = fieldsOf(one['plan'])
  const wave = waves.find(({ clusters }) => textsOf(clusters).includes(name))?.['wave']
  const most = numberOf(fieldsOf(plan['time'])['highSeconds'])
  const against = listOf(plan['findings']).filter(({ level }) => level !== 'info')
  const ids = new Set(against.flatMap(({ id }) => textOf(id) ?? []))
  return [
    name,
    waveName(numberOf(wave)),
    textOf(plan['from']) ?? '',
    textOf(plan['method']) ?? '',
    plan['pending'] === false ? 'nothing to do' : most === undefined ? 'not known' : spanText(most * 1000),
    textsOf(one['windows']).join(', ') || 'always',
    textOf(fieldsOf(one['error'])['message']) ?? [...ids].join(', '),
  ]
}

const nameOf = ({ name }: Fields): string => textOf(name) ?? ''

const endOf = ({ outcome }: Fields): string => resultWords(textOf(outcome) ?? '')

function spanOf({ began, ended }: Fields): { begins: number | undefined; ends: number | undefined } {
  return { begins: timeOf(began), ends: timeOf(ended) }
}

/** A bar for each cluster that was begun, in the order of the waves. */
export function clusterLanes(document: Fields): readonly Lane[] {
  return listOf(document['items']).flatMap((result) => {
    const { begins, ends } = spanOf(result)
    if (begins === undefined) return []
    const to = Math.max(begins, ends ?? begins)
    const text = `${nameOf(result)}: ${endOf(result)}${to === begins ? '' : ` after ${spanText(to - begins)}`}`
    const tone: BarTone = tones.get(textOf(result['outcome']) ?? '') ?? 'bad'
    return [lane('Clusters', nameOf(result), [{ from: begins, to, text, tone }])]
  })
}

const tones: ReadonlyMap<string, BarTone> = new Map([
  ['done', 'good'],
  ['nothing-to-do', 'good'],
  ['needs-person', 'warn'],
  ['interrupted', 'warn'],
  ['not-begun', 'dim'],
])

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
