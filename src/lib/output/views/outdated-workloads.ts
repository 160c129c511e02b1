import type { CountApart } from '../../workloads/outdated/count-apart.ts'
import type { OutdatedAlert } from '../../workloads/outdated/alert.ts'
import type { OutdatedItem } from '../../workloads/outdated/outdated-item.ts'
import type { Totals } from '../../workloads/outdated/totals.ts'
import { ageAt } from '../age.ts'
import type { Column, Document, Paint, RowsView, Tone } from '../printer.ts'
import { wrap } from '../wrap.ts'
import { fatesText, fateWords } from './fate-words.ts'
import { outdatedRemarks } from './outdated-remarks.ts'

/** Besides its `items`, which are OutdatedItem. Times are RFC 3339. */
export interface OutdatedDocument extends Document {
  kind: 'OutdatedWorkloads'
  asOf: string
  /** What was asked for; empty for the whole cluster. */
  selection: { namespace?: string; labels?: string; node?: string }
  kubevirt?: { name: string; namespace: string; version?: string }
  /** Absent: they may not be read. */
  methods?: readonly string[]
  /** The virt-launcher of new pods. */
  launcher?: string
  /** kvup borrowed the methods. */
  held?: { by: string; at: string }
  /** Labels and counts are not true before the update is over. */
  updating: boolean
  totals: Totals
  /** Only of the whole cluster: beside the count in the status of the KubeVirt. */
  count?: CountApart & { unexplained: number }
  alert?: OutdatedAlert
  /** What may not be read: nothing is said of it. */
  unread: readonly { namespace?: string; what: string; why: string }[]
  remarks: readonly string[]
  /** The command for what comes next. */
  next?: string
}

/** Ages count to `now`, the time at which a row is told. */
export function outdatedView(now: () => Date): RowsView<OutdatedItem, OutdatedDocument> {
  return {
    columns: columnsAt(now),
    name: ({ name }) => `virtualmachineinstance.kubevirt.io/${name}`,
    below: (document, paint, { columns }) =>
      [...outdatedRemarks(document, paint), summary(document, paint)].flatMap((line) => wrap(line, columns)),
  }
}

function columnsAt(now: () => Date): readonly Column<OutdatedItem>[] {
  return [
    { name: 'NAMESPACE', cell: ({ namespace }) => namespace },
    { name: 'NAME', cell: ({ name }) => name },
    { name: 'NODE', cell: ({ node }) => node },
    { name: 'LAUNCHER', cell: ({ launcher }) => launcherText(launcher), tone: toneOfLauncher },
    { name: 'AGE', cell: ({ since }) => ageAt(since, now()) },
    { name: 'WILL', cell: ({ will }) => (will ? fateWords[will].infinitive : 'not known'), tone: toneOf },
    { name: 'MIGRATABLE', holds: 'text', cell: ({ migratable }) => migratableText(migratable), wide: true },
    {
      name: 'EVICTION',
      holds: 'text',
      cell: ({ evictionStrategy: { value, from } }) => value && `${value} (${from})`,
      wide: true,
    },
    { name: 'WHY', holds: 'text', cell: ({ why }) => why.map(({ text }) => text).join('; ') },
    { name: 'HELPS', holds: 'command', cell: ({ remedy }) => remedy.join(' && '), wide: true },
  ]
}

const toneOf = ({ will }: OutdatedItem): Tone | undefined => will && fateWords[will].tone
const toneOfLauncher = ({ launcher }: OutdatedItem): Tone | undefined => (launcher.old ? 'warn' : undefined)

/** A digest is told by its first digits. */
function launcherText({ version, image }: OutdatedItem['launcher']): string | undefined {
  return version ?? image?.replace(/^.*[/]/u, '').replace(/^[^@]*@(?<digest>sha256:\w{12}).*$/u, '$<digest>')
}

function migratableText({ status, reason }: OutdatedItem['migratable']): string {
  return reason === undefined ? status : `${status} (${reason})`
}

function summary({ totals, selection, updating, next }: OutdatedDocument, paint: Paint): string {
  const { total, byFate } = totals
  const then = next === undefined ? '' : ` ${paint.mark.next} ${next}`
  if (total === 0)
    return `${updating ? 'no VM is labelled outdated yet' : 'no outdated VMs'}${within(selection)}${then}`
  const how = fatesText(fateWords, byFate) || 'what becomes of them is not known'
  return `${paint.strong(`${total} outdated`)}${within(selection)}: ${how}${then}`
}

function within({ namespace, labels, node }: OutdatedDocument['selection']): string {
  return [
    ...(namespace === undefined ? [] : [` in namespace ${namespace}`]),
    ...(node === undefined ? [] : [` on node ${node}`]),
    ...(labels === undefined ? [] : [` with ${labels}`]),
  ].join('')
}
