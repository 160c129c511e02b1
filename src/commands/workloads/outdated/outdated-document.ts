import type { Reader } from '../../../lib/cluster/cluster.ts'
import type { ShownHolder } from '../../../lib/output/views/lock-holder.ts'
import type { OutdatedDocument } from '../../../lib/output/views/outdated-workloads.ts'
import { ApiError } from '../../../lib/system/errors.ts'
import { giveBackLine } from '../../../lib/workloads/held-lines.ts'
import { narrowedLine } from '../../../lib/system/narrowed-line.ts'
import { outdatedAlert } from '../../../lib/workloads/outdated/alert.ts'
import { countApart, type CountApart, unexplained } from '../../../lib/workloads/outdated/count-apart.ts'
import type { Surroundings } from '../../../lib/workloads/outdated/surroundings.ts'
import type { NextStep, Totals } from '../../../lib/workloads/outdated/totals.ts'
import { methodsOf } from '../../../lib/workloads/update-methods.ts'
import { atWorkText } from './at-work.ts'
import type { Around } from './outdated.ts'
import type { SelectedVms } from './selection.ts'

/** What is left of the rows once they are printed. */
export interface Told {
  selection: SelectedVms
  totals: Totals
  next: NextStep
  notRunning: number
  unread: { namespace: string; what: string; why: string }[]
  remarks: string[]
}

/** Everything besides the rows. Lists the other VMIs only where KubeVirt counts another number. Throws ApiError. */
export async function outdatedDocument(
  reader: Reader,
  told: Told,
  { surroundings, held, at }: Around,
  working: Promise<ShownHolder | undefined>,
): Promise<OutdatedDocument> {
  const { kubevirt, launcher, launcherSince, updating, unread } = surroundings
  const [count, holder] = await Promise.all([
    isWhole(told) ? countOf(reader, told, surroundings) : undefined,
    working,
  ])
  const alert = outdatedAlert(
    Math.max(count?.reported ?? 0, told.totals.total),
    launcherSince,
    held !== undefined,
  )
  const next = nextOf(told, { surroundings, held, holder })
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'OutdatedWorkloads',
    asOf: at.toISOString(),
    selection: told.selection,
    ...(kubevirt && kubevirtPart(kubevirt)),
    ...(launcher && { launcher }),
    ...(held && { held: { by: held.by, at: held.at } }),
    updating,
    totals: told.totals,
    ...(count && { count: { ...count, unexplained: unexplained(count) } }),
    ...(alert && { alert }),
    unread: [...unread, ...told.unread],
    remarks: [...surroundings.remarks, ...told.remarks, ...workingText(holder, at)],
    ...(next !== undefined && { next }),
  }
}

/** KubeVirt counts the whole cluster: what is only a part of it has nothing to be compared with. */
function isWhole({ selection, unread }: Told): boolean {
  return Object.keys(selection).length === 0 && unread.length === 0
}

function kubevirtPart(
  kubevirt: NonNullable<Surroundings['kubevirt']>,
): Pick<OutdatedDocument, 'kubevirt' | 'methods'> {
  const { name, namespace = '' } = kubevirt.metadata
  const version = kubevirt.status?.observedKubeVirtVersion
  return { kubevirt: { name, namespace, ...(version && { version }) }, methods: methodsOf(kubevirt) }
}

async function countOf(
  reader: Reader,
  { totals, notRunning }: Told,
  { kubevirt, updating, launcher }: Surroundings,
): Promise<CountApart | undefined> {
  if (kubevirt === undefined) return undefined
  const reported = kubevirt.status?.outdatedVirtualMachineInstanceWorkloads
  try {
    return await countApart(reader, { reported, labelled: totals.total, notRunning, updating, launcher })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    return undefined
  }
}

const workingText = (holder: ShownHolder | undefined, at: Date) =>
  holder === undefined ? [] : [atWorkText(holder, at.toISOString())]

interface Standing extends Pick<Around, 'surroundings' | 'held'> {
  holder: ShownHolder | undefined
}

function nextOf(
  { selection, totals, next }: Told,
  { surroundings: { updating }, held, holder }: Standing,
): string | undefined {
  if (totals.total === 0) return undefined
  if (holder) return narrowedLine('kvup workloads migrations', selection)
  if (held) return giveBackLine(held)
  if (updating) return 'kvup status'
  return (
    next.command ??
    (totals.byFate.migrates > 0 ? narrowedLine('kvup workloads migrations', selection) : undefined)
  )
}
