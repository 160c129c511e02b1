import { type StepReport, stepReport } from '../../upgrade/upgrade-report.ts'
import { type NewAlerts, newAlerts } from '../../openshift/firing-alerts.ts'
import type { JournalReader, Override } from '../../engine/journal.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'
import type { CensusCircumstances, Change, Differences } from '../../vms/census/vm-census.ts'
import type { Compared, ComparedWith, RunCensus } from '../../vms/census/run-census.ts'
import type { CommandContext } from '../../kube/world.ts'
import { targetOfName } from '../../engine/overrides.ts'
import { goesOn, takenRisks } from '../../engine/change.ts'
import type { TakenRisk } from '../../engine/journal-runs.ts'
import type { WindowSnapshot } from './window-snapshot.ts'
import type { Cluster } from '../../kube/cluster.ts'
import {
  alertsBefore,
  changedNodes,
  changedVolumes,
  hyperConvergedBefore,
  nodesBefore,
  rewrittenFields,
  volumesBefore,
} from '../baseline.ts'
import type { RunEvent } from '../../engine/step.ts'
import { asFarAsRead } from '../../kube/errors.ts'

/** What is compared with the time before the window. */
type Comparison = Pick<
  EusReportDocument,
  'comparedWith' | 'changes' | 'counts' | 'differences' | 'nodes' | 'volumes' | 'rewritten' | 'alerts'
>

type End = Pick<EusReportDocument, 'outcome' | 'steps'> &
  Partial<Comparison> &
  Partial<Pick<EusReportDocument, 'seconds' | 'dryRun' | 'dryRunSteps' | 'stoppedBefore' | 'notes' | 'next'>>

/** The document of a run's end, with what is borrowed still and what to type next. */
export async function reportOfWindow(
  { world }: CommandContext,
  { window, environment, planned }: WindowSnapshot,
  end: End,
): Promise<EusReportDocument> {
  const overrides = (await environment.journal.overrides()).filter(
    ({ procedure }) => targetOfName(procedure) !== undefined,
  )
  const next = end.next ?? nextOf(world.commandLine, end)
  const isDone = end.outcome !== 'nothing-to-do' && end.outcome !== 'dry-run'
  const accepted = isDone ? await takenRisks(planned.accepted, environment) : []
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusReport',
    from: window.began,
    to: window.to,
    ...end,
    notes: end.notes ?? [],
    overrides: overrides,
    ...(accepted.length > 0 && { accepted }),
    next,
  }
}

const nextOf = (commandLine: string, { outcome }: End): readonly string[] =>
  outcome === 'stopped-before' ? [goesOn(commandLine), 'kvup eus status'] : []

/** What is known of an EUS upgrade that ended early, without another look at the cluster. How it ended stands in its error. */
export type BrokenEusReport = Pick<
  EusReportDocument,
  'apiVersion' | 'kind' | 'from' | 'to' | 'accepted' | 'steps'
>

export async function brokenReport(
  { window, environment, planned }: WindowSnapshot,
  { steps }: Pick<ObservedWindow, 'steps'>,
): Promise<BrokenEusReport> {
  const accepted = await takenRisks(planned.accepted, environment)
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusReport',
    from: window.began,
    to: window.to,
    steps: [...steps],
    ...(accepted.length > 0 && { accepted }),
  }
}

type Names = Readonly<Record<string, readonly string[]>>

/** One report of several windows, one after the other: how the last one ended, and what all of them did and changed. */
export function joinedReport(
  reports: readonly [EusReportDocument, ...EusReportDocument[]],
): EusReportDocument {
  const [first] = reports
  const last = reports.at(-1) ?? first
  if (reports.length === 1) return last
  const changes = reports.flatMap((report) => report.changes ?? [])
  const differences = unionOf(reports.flatMap((report) => report.differences ?? []))
  const nodes = unionOf(reports.flatMap((report) => report.nodes ?? []))
  const volumes = unionOf(reports.flatMap((report) => report.volumes ?? []))
  const rewritten = reports.flatMap((report) => report.rewritten ?? [])
  return {
    ...last,
    from: first.from,
    steps: reports.flatMap(({ steps }) => steps),
    seconds: reports.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
    ...(first.comparedWith && { comparedWith: first.comparedWith, changes }),
    ...(differences && { differences }),
    ...(nodes && { nodes }),
    ...(volumes && { volumes }),
    ...(last.rewritten && { rewritten: [...new Set(rewritten)] }),
    notes: [...new Set(reports.flatMap(({ notes }) => notes))],
  }
}

/** Each name once in each of the lists; undefined where nothing was compared. */
function unionOf<T extends { [K in keyof T]: readonly string[] }>(all: readonly T[]): T | undefined {
  const [first] = all
  if (first === undefined) return undefined
  const keys = Object.keys(first)
  const lists = keys.map((key) => [key, [...new Set(all.flatMap((one) => (one as Names)[key] ?? []))]])
  return Object.fromEntries(lists) as T
}

/** What a report of a window needs: the steps as they end, VMs and volumes before and after. */
export interface ObservedWindow {
  /** Before the first write. */
  before(): Promise<void>
  event(event: RunEvent): void
  readonly steps: readonly StepReport[]
  after(): Promise<Comparison & Pick<EusReportDocument, 'unread'>>
}

/**
 * Alerts, nodes, volumes and the spec of the HyperConverged are compared with what was kept when the window was opened, VMs with what they were when this run
 * began, or the run that was killed before it: in a window of days they come and go.
 */
export function observeWindow(
  { reader }: Pick<Cluster, 'reader'>,
  journal: JournalReader,
  { name, census, evicted }: { name: string; census: RunCensus; evicted: CensusCircumstances['evicted'] },
): ObservedWindow {
  const steps: StepReport[] = []
  let marks: Kept | undefined
  return {
    steps,
    async before() {
      marks = await keptBefore({ reader, journal }, name)
    },
    event(event) {
      if (event.kind === 'step-done') steps.push(stepReport(event))
    },
    async after() {
      return {
        ...(await whatChanged(census.compare(reader, evicted))),
        ...(marks && (await comparedWith(reader, marks))),
      }
    },
  }
}

/** What was done is done; that its VMs could not be compared is said. */
const whatChanged = (comparing: Promise<Compared | undefined>) =>
  asFarAsRead(
    comparing.then((compared) => compared && toldOf(compared)),
    { unread: ['VMs and volumes'] },
  )

const toldOf = ({ since, changes, counts, differences, unread }: Compared) => ({
  comparedWith: since,
  ...(unread.length > 0 && { unread }),
  changes,
  ...(counts && { counts }),
  ...(differences && { differences }),
})

type Kept = Awaited<ReturnType<typeof keptBefore>>

const keptBefore = async (cx: { reader: Cluster['reader']; journal: JournalReader }, name: string) => ({
  nodes: await asFarAsRead(nodesBefore(cx, name)),
  volumes: await asFarAsRead(volumesBefore(cx, name)),
  alerts: await asFarAsRead(alertsBefore(cx, name)),
  spec: await asFarAsRead(hyperConvergedBefore(cx, name)),
})

async function comparedWith(
  reader: Cluster['reader'],
  kept: Kept,
): Promise<Pick<EusReportDocument, 'nodes' | 'volumes' | 'rewritten' | 'alerts'>> {
  const nodes = kept.nodes && (await asFarAsRead(changedNodes(reader, kept.nodes)))
  const volumes = kept.volumes && (await asFarAsRead(changedVolumes(reader, kept.volumes)))
  const rewritten = kept.spec && (await asFarAsRead(rewrittenFields(reader, kept.spec)))
  const alerts = kept.alerts && (await asFarAsRead(newAlerts(reader, kept.alerts)))
  return {
    ...(alerts && { alerts }),
    ...(nodes && { nodes }),
    ...(volumes && { volumes }),
    ...(rewritten && { rewritten }),
  }
}

/** The end of `kvup eus run`, `abort` and `restore`. */
export interface EusReportDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'EusReport'
  /** Minors of the platform. */
  from: string
  to: string
  outcome: 'done' | 'nothing-to-do' | 'stopped-before' | 'aborted' | 'restored' | 'dry-run'
  /** What is said of it beforehand or afterwards: what cannot be undone, what was not compared. */
  notes: readonly string[]
  /** Risks that were accepted by name for it; absent where there was none. */
  accepted?: readonly TakenRisk[]
  seconds?: number
  steps: readonly StepReport[]
  dryRun?: 'client' | 'server'
  dryRunSteps?: readonly DryRunStep[]
  overrides: readonly Override[]
  stoppedBefore?: { step: string; because: string; safeToLeave?: string; goesOn?: readonly string[] }
  /** With what VMs and volumes were compared. Reboots inside a guest are not seen. */
  comparedWith?: ComparedWith
  /** What became of VMs and volumes, and whether an owner is seen to have done it: one that is `lost` is exit code 9. */
  changes?: readonly Change[]
  /** Where too many VMs ran to keep their names: the namespaces in which fewer run now. */
  counts?: NonNullable<Compared['counts']>
  /** What could not be read at the end, kinds or in words: nothing is said of it. */
  unread?: readonly string[]
  /** VMs and volumes before the first write of this run and after it (night E11). */
  differences?: Differences
  /** Nodes whose labels or taints are other ones than when the window was opened. */
  nodes?: { changed: readonly string[]; gone: readonly string[] }
  /** DataVolumes and claims that are other ones, or in another phase, than when the window was opened. */
  volumes?: { changed: readonly string[]; gone: readonly string[] }
  /** Alerts that did not fire when the window was opened, in words; or why that cannot be told. */
  alerts?: NewAlerts
  /** Fields of the HyperConverged's spec that read otherwise than when the window was opened, in words; not reverted (night E13). */
  rewritten?: readonly string[]
  next: readonly string[]
}
