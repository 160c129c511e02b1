import type { Context } from '../../context.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import { oneLook } from '../../lib/cluster/one-look.ts'
import { isLeftUnclosed } from '../../lib/eus/abort/close-window.ts'
import { type EusRequest, type EusWindow, windowOf } from '../../lib/eus/run/window.ts'
import { isOfWindow, targetOfName, windowName } from '../../lib/system/window-name.ts'
import { onKeptWay } from '../../lib/eus/run/on-kept-way.ts'
import { type Baseline, keptBaseline } from '../../lib/eus/steps/kept.ts'
import { keptWay } from '../../lib/eus/steps/kept-way.ts'
import { readPlatform } from '../../lib/eus/steps/read-platform.ts'
import { type Installation, theInstallation } from '../../lib/facts/installation.ts'
import { takeSnapshot } from '../../lib/facts/snapshot.ts'
import type { Journal, JournalReader, Loan } from '../../lib/procedure/journal.ts'
import { RememberedJournal } from '../../lib/procedure/remembered-journal.ts'
import { platformMinor } from '../../lib/releases/platform-minors.ts'
import { minorOfPlatform, parsePlatformMinor } from '../../lib/releases/platform-version.ts'
import type { Hands } from '../../lib/run/carry-out.ts'
import { parseAccepted } from '../../lib/run/gate.ts'
import { settleMissingValues } from '../../lib/run/missing-values.ts'
import { blocked } from '../../lib/system/errors.ts'
import { ownerOf } from '../../lib/upgrade/make-plan.ts'
import { handsOf } from '../upgrade/hands.ts'
import type { EusPlanningOptions } from './flags.ts'
import { type PlannedEus, plannedEus } from './planned.ts'

/** A window and all that is needed to work on it. */
export interface SeenWindow {
  cluster: Cluster
  installation: Installation
  window: EusWindow
  planned: PlannedEus
  hands: Omit<Hands, 'announce'>
  /** Open ones of any window. */
  loans: readonly Loan[]
  /** The minor that the open window leads to: something is borrowed for it, or a hop was accepted and it was not finished. Undefined where none is open. */
  open: string | undefined
}

/**
 * Looks, and makes the plan anew from where the cluster stands. A window that is open keeps its target, whatever the next one would be. Throws
 * `blocked` where another target is asked for in an open window, and what `plannedEus` and `settle` throw.
 */
export async function seeWindow(
  cx: Context,
  options: EusPlanningOptions & { takeOver?: string },
  request: EusRequest,
  settle: Settling = async () => undefined,
): Promise<SeenWindow> {
  const cluster = await cx.cluster()
  const reader = oneLook(cluster.reader)
  const installation = theInstallation(await takeSnapshot(reader, [], cx.clock))
  const { namespace, manager } = installation
  const hands = handsOf(cx, cluster, { namespace, takeOver: options.takeOver })
  await settle(hands.journal)
  const journal = new RememberedJournal(hands.journal)
  const loans = (await journal.loans()).filter(isOfWindow)
  const { to, begun, kept } = await meantBy(options, { cluster, journal, loans })
  const planned = await plannedEus(
    cx,
    { cluster: { ...cluster, reader }, clock: cx.clock },
    { ...options, ...(to && { to }) },
  )
  const isOpen = loans.length > 0 || (kept !== undefined && hasMoved(kept, planned.plan.from))
  const open = isOpen ? begun : undefined
  const { who } = cx.world
  const { releases } = planned
  const kubevirt = ownerOf(installation)
  const fresh = windowOf(planned.plan, { who, kubevirt, manager, releases, request }, kept)
  const way = open === undefined ? undefined : await keptWay(journal, windowName(open))
  const window = onKeptWay(fresh, way, options)
  return { cluster, installation, window, planned, hands, loans, open }
}

/** What becomes of saved values that are missing, before anything is judged by the journal. */
export type Settling = (journal: Journal) => Promise<void>

/** A person is asked, or a name that was accepted says it; a dry run asks nobody. */
export function askingIn(
  { prompt }: Context,
  { accept, dryRun = 'none' }: { accept: readonly string[]; dryRun?: string },
): Settling {
  return async (journal) => {
    if (dryRun === 'none') await settleMissingValues(journal, { prompt, accepted: parseAccepted(accept) })
  }
}

const targetOf = ([loan]: readonly Loan[]): string | undefined => loan && targetOfName(loan.procedure)

interface Meant {
  /** The minor that is planned for; undefined: the next one. */
  to: string | undefined
  /** The minor that the window leads to which was begun and not finished. */
  begun: string | undefined
  /** Of that window, where it is the one that is meant. */
  kept: Baseline | undefined
}

async function meantBy(
  options: EusPlanningOptions,
  { cluster, journal, loans }: { cluster: Cluster; journal: JournalReader; loans: readonly Loan[] },
): Promise<Meant> {
  const lent = targetOf(loans)
  const begun = lent ?? (await unfinishedTarget(journal))
  const kept = begun === undefined ? undefined : await keptBaseline(journal, windowName(begun))
  const goal = kept?.goal ?? begun
  const to = targetFor(options, lent, goal) ?? (await reachedTarget(cluster, journal))
  const isMeant = lent !== undefined || to === goal
  return { to, begun, kept: isMeant ? kept : undefined }
}

/**
 * Nothing of it is borrowed, yet or any more, and it was never said to be finished: a run was cut off at its very beginning or end. Not one whose settings were all given
 * back by name: that is over.
 */
async function unfinishedTarget(journal: JournalReader): Promise<string | undefined> {
  const last = (await journal.entries()).findLast(({ procedure }) => targetOfName(procedure) !== undefined)
  const to = last && targetOfName(last.procedure)
  if (to === undefined || (await isLeftUnclosed(journal, windowName(to)))) return undefined
  return (await keptBaseline(journal, windowName(to))) ? to : undefined
}

const hasMoved = ({ from }: Baseline, now: string): boolean => minorOfPlatform(from) !== minorOfPlatform(now)

/** Who runs it again at the end of a window does not mean the next one. */
async function reachedTarget({ reader }: Cluster, journal: JournalReader): Promise<string | undefined> {
  const last = (await journal.entries()).findLast(
    ({ what, procedure }) => what === 'finished' && targetOfName(procedure) !== undefined,
  )
  const to = last && targetOfName(last.procedure)
  if (to === undefined) return undefined
  const { standing } = await readPlatform(reader)
  return minorOfPlatform(standing.version) === to && isAnEnd(to, standing.version) ? to : undefined
}

/** On OpenShift a minor without extended support is one in between, unless somebody says --to; on OKD each is as good as the next. */
const isAnEnd = (minor: string, release: string | undefined): boolean =>
  platformMinor(minor)?.eus !== false || release?.includes('okd') === true

/** Where windows follow one another the end of the way is meant as well. */
function targetFor({ to }: EusPlanningOptions, open: string | undefined, goal = open): string | undefined {
  const asked = to === undefined ? undefined : parsePlatformMinor(to)
  if (open === undefined || asked === undefined || asked === open || asked === goal) return asked ?? goal
  throw blocked('another-window', `a window to ${open} is open, and ${asked} was asked for`, {
    remedy: ['kvup eus status', 'kvup eus run     goes on', 'kvup eus abort     ends it'],
  })
}
