import { valueText } from '../../kube/text.ts'
import { type Fields, fieldsOf, listOf, numberOf, placedName, textOf, textsOf } from './fields.ts'

/** A list of sentences, and what they are about. */
interface Note {
  title: string
  lines: readonly string[]
}

/** The sentences of a document, each list under what it is. Lists that are empty are left out. */
export function notesOf(document: Fields): readonly Note[] {
  const error = fieldsOf(document['error'])
  const { vms, alerts, workloads, noWayBack, degraded } = document
  const stopped = fieldsOf(document['stoppedBefore'])
  const isJournal = document['kind'] === 'History'
  const sections: readonly (readonly [string, readonly string[]])[] = [
    [
      'What else is known',
      [...furtherLines(error), ...textsOf(error['notes']), ...textsOf(fieldsOf(document['why'])['notes'])],
    ],
    ['What is not as it should be', textsOf(degraded)],
    ['Where it stopped', stoppedText(stopped)],
    ['What it means for the cluster', [...textsOf(document['said']), ...textsOf(document['notes'])]],
    ['VMs that have a problem', troublesOf(fieldsOf(vms))],
    ['VMs now', textsOf([fieldsOf(workloads)['forecast']]).map((text) => `KubeVirt ${text}`)],
    ['New alerts', [...textsOf(fieldsOf(alerts)['new']), ...textsOf([fieldsOf(alerts)['notCompared']])]],
    ['Differences', differencesOf(fieldsOf(document['differences']))],
    ['Way back', noWayBack === undefined ? [] : [`none: ${String(textOf(noWayBack))}`]],
    [
      'Left behind',
      [
        ...listOf(document['left']).flatMap(({ what }) => textOf(what) ?? []),
        ...(isJournal ? [] : overridesOf(document)),
      ],
    ],
    ['Temporary changes that are open', isJournal ? overridesOf(document) : []],
    ['Measured', measuredText(fieldsOf(document['availability']))],
    ['Faults', listOf(document['items']).flatMap(faultText)],
    ['Not in the twin, and so not shown', textsOf(document['missing'])],
    ['Could not be read', textsOf(document['unread'])],
    ['Not known', textsOf(document['unknown'])],
  ]
  return sections.flatMap(([title, lines]) => (lines.length === 0 ? [] : [{ title, lines }]))
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
  const overLimit = textOf(availability['overLimit'])
  const notWatched = textOf(vms['notWatched'])
  const seconds = numberOf(availability['notMeasuredSeconds']) ?? 0
  return [
    ...(overLimit === undefined ? [] : [`Over the limit: ${overLimit}`]),
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

const faultText = (item: Fields): readonly string[] => {
  const fault = textOf(item['fault'])
  if (fault === undefined) return []
  const why = textOf(fieldsOf(item['why'])['message'])
  const left = listOf(item['left']).flatMap(({ what }) => textOf(what) ?? [])
  const ends = { through: 'goes through', stalls: 'stalls', blocked: 'is blocked' }[
    textOf(item['outcome']) ?? ''
  ]
  return [
    `${fault}: ${textOf(item['title']) ?? ''} The upgrade ${ends ?? 'ends'}${why === undefined ? '' : `: ${why}`}${left.length > 0 ? `. Left behind: ${left.join(', ')}` : ''}`,
  ]
}
