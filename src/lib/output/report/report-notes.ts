import { valueText } from '../../kube/text.ts'
import { titleOf } from './lanes.ts'
import { type Fields, fieldsOf, listOf, numberOf, placedName, textOf, textsOf } from './fields.ts'

/** A list of sentences, and what they are about. */
export interface Note {
  title: string
  lines: readonly string[]
  /** Its commands can be pasted: everywhere else a line that begins like one is a sentence. */
  isHelp?: true
}

const ifItHappens = 'If this happens in the cluster'
const noWay = 'There is no way back'

/** The most important sentence of a plan, which its notes have near their end. */
export const noWayBackIn = (document: Fields): readonly string[] =>
  textsOf(document['notes']).filter((line) => line.startsWith(noWay))

/** Nothing of what it says happened in a cluster. */
export const isOfTwin = ({ kind }: Fields): boolean => kind === 'Rehearsal'

/** The sentences of a document, each list under what it is. Lists that are empty are left out. */
export function notesOf(document: Fields): readonly Note[] {
  const error = fieldsOf(document['error'])
  const { vms, alerts, workloads, noWayBack, degraded } = document
  const stopped = fieldsOf(document['stoppedBefore'])
  const isJournal = document['kind'] === 'History'
  const isTwin = isOfTwin(document)
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      isTwin ? 'In the twin at its end' : 'What else is known',
      [
        ...furtherLines(error),
        ...textsOf(error['notes']),
        ...textsOf(fieldsOf(document['why'])['notes']),
        ...textsOf(fieldsOf(document['why'])['finds']),
      ],
    ],
    ['What is not as it should be', textsOf(degraded)],
    ['Where it stopped', stoppedText(stopped)],
    [
      'What it means for the cluster',
      [...textsOf(document['said']), ...textsOf(document['notes']).filter((line) => !line.startsWith(noWay))],
    ],
    ['Steps', document['kind'] === 'EusPlan' ? listOf(document['steps']).map(titleOf) : []],
    ['VMs that have a problem', troublesOf(fieldsOf(vms))],
    ['VMs now', textsOf([fieldsOf(workloads)['forecast']]).map((text) => `KubeVirt ${text}`)],
    ['New alerts', [...textsOf(fieldsOf(alerts)['new']), ...textsOf([fieldsOf(alerts)['notCompared']])]],
    ['Differences', differencesOf(fieldsOf(document['differences']))],
    ['Way back', noWayBack === undefined ? [] : [`none: ${String(textOf(noWayBack))}`]],
    [
      isTwin ? 'Left behind in the twin' : 'Left behind',
      [
        ...listOf(document['left']).flatMap(({ what }) => textOf(what) ?? []),
        ...(isJournal ? [] : overridesOf(document)),
      ],
    ],
    [ifItHappens, isTwin ? helpIfItHappens(document) : []],
    ['Temporary changes that are open', isJournal ? overridesOf(document) : []],
    ['Measured', measuredText(fieldsOf(document['availability']))],
    ['Not in the twin, and so not shown', textsOf(document['missing'])],
    ['Could not be read', textsOf(document['unread'])],
    ['Not known', textsOf(document['unknown'])],
    [
      'About the journal',
      isJournal ? ['Other users can edit the journal of kvup: do not treat it as proof.'] : [],
    ],
  ]
  return sections.flatMap(([title, lines]) =>
    lines.length === 0 ? [] : [{ title, lines, ...(title === ifItHappens && { isHelp: true as const }) }],
  )
}

/** What the upgrade printed on the twin, and what restores what it left there: each command once. */
function helpIfItHappens(document: Fields): readonly string[] {
  const remedy = textsOf(fieldsOf(document['why'])['remedy'])
  const restores = listOf(document['left']).flatMap((left) => textOf(left['restores']) ?? [])
  const isSaid = (line: string) => remedy.some((one) => one === line || one.startsWith(`${line}   `))
  return [...new Set([...remedy, ...restores.filter((line) => !isSaid(line))])]
}

/** What a message says below its first line. */
const furtherLines = ({ message }: Fields): readonly string[] =>
  (textOf(message) ?? '')
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '')

function stoppedText({ step, because, safeToLeave }: Fields): readonly string[] {
  if (textOf(step) === undefined) return []
  const safe = textOf(safeToLeave) === undefined ? '' : `. Safe to leave here: ${textOf(safeToLeave)}`
  return [`before ${textOf(step)}, by ${textOf(because)}${safe}`]
}

const troublesOf = (vms: Fields): readonly string[] => [
  ...listOf(vms['reasons']).map(
    ({ status, message, count: many }) =>
      `${numberOf(many) ?? 1} × ${[textOf(status), textOf(message)].filter(Boolean).join(': ')}`,
  ),
  ...[...listOf(vms['stuck']), ...listOf(vms['leftBehind'])].flatMap(
    ({ sentence }) => textOf(sentence) ?? [],
  ),
]

const differenceWords: Readonly<Record<string, string>> = {
  vanished: 'vanished',
  failed: 'failed',
  restarted: 'restarted',
  notReady: 'no longer ready',
  restartRequired: 'now need a restart',
  volumes: 'volumes',
  failedMigrations: 'migration failed',
}

/** So many names are told in a line; the JSON has all. */
const namesAtMost = 20

const differencesOf = (differences: Fields): readonly string[] =>
  Object.entries(differences).flatMap(([key, value]) => {
    const names = textsOf(value)
    const more = names.length > namesAtMost ? ` and ${names.length - namesAtMost} more` : ''
    return names.length === 0
      ? []
      : [`${differenceWords[key] ?? key}: ${names.slice(0, namesAtMost).join(', ')}${more}`]
  })

/** What the drawing and the table do not show: what was not measured, and which rule was broken. */
function measuredText(availability: Fields): readonly string[] {
  const vms = fieldsOf(availability['vms'])
  const notWatched = textOf(vms['notWatched'])
  const seconds = numberOf(availability['notMeasuredSeconds']) ?? 0
  return [
    ...listOf(availability['probes']).flatMap(({ probe, what, ended }) => {
      const why = textOf(fieldsOf(ended)['why'])
      return why === undefined
        ? []
        : [`${textOf(probe)} (${textOf(what)}) was not measured to the end: ${why}`]
    }),
    ...(notWatched === undefined ? [] : [`VMs were not watched: ${notWatched}`]),
    ...listOf(fieldsOf(vms['gaps'])['items']).map(
      ({ begin, end, why }) =>
        `VMs were not watched from ${textOf(begin)} to ${textOf(end) ?? 'the end'}: ${textOf(why) ?? 'not known why'}`,
    ),
    ...(seconds > 0 ? [`Not measured for ${seconds} s: this computer gave kvup no turn`] : []),
  ]
}

const overridesOf = (document: Fields): readonly string[] =>
  listOf(document['overrides']).map((override) => {
    const was = fieldsOf(override['was'])
    const object = fieldsOf(override['object'])
    const value = was['present'] === true ? valueText(was['value']) : 'absent'
    return `${textOf(override['id'])}: ${textOf(override['path'])} of ${textOf(object['kind'])} ${placedName(object)} (was ${value})`
  })
