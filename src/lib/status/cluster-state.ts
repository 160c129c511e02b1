import type { Entry, Override } from '../engine/journal.ts'
import { targetOfName } from '../engine/overrides.ts'
import { commandOf, shellWord, watchLine } from '../kube/shell-line.ts'
import { counted, someOf } from '../kube/text.ts'
import type { Cause } from '../kubevirt/diagnosis/pod-trouble.ts'
import type { ShownHolder } from '../kubevirt/lease-holders.ts'
import { lossBehind } from '../releases/hop-findings.ts'
import { versionOf } from '../releases/release-versions.ts'
import type { StatusReport } from './status-report.ts'
import {
  endText,
  type FailedCanary,
  goalOf,
  interruptedRun,
  lastRun,
  spanOf,
  type Unfinished,
} from './unfinished-run.ts'

/** Where a cluster stands in one word; the worst thing that is true of it. */
export type StateName =
  /** No kubeconfig names one. */
  | 'NoCluster'
  | 'NotInstalled'
  | 'Degraded'
  | 'Stalled'
  /** Another kvup holds the lock. */
  | 'Running'
  /** A run of kvup ended early, and what it began is not finished. */
  | 'Interrupted'
  | 'Updating'
  /** A layer above KubeVirt waits for somebody. */
  | 'Waiting'
  /** KubeVirt says that it is done, and a component is of another version. */
  | 'OutOfStep'
  /** The canary of a VM update failed, and the other VMs were not moved. */
  | 'CanaryFailed'
  /** KubeVirt tries the migration of a VM again and again, and it fails each time. */
  | 'MigrationsFailing'
  /** Healthy as far as it could be seen. */
  | 'NotChecked'
  | 'Healthy'

/** Where the cluster stands, why, and what to type: the head of every screen that ends with it. */
export interface ClusterState {
  is: StateName
  /** The verdict in a sentence: version, cluster, state. */
  headline: string
  /** Why, what is paused, what of the VMs. */
  why: readonly string[]
  /** An upgrade that has begun and is not finished, whoever began it: it comes before any other. */
  upgrade?: {
    from?: string
    to: string
    /** It was begun by a tag that is not the operator's own: kvup would replace the operator by itself. */
    method?: 'image-tag'
  }
  /** The line to type now, with what it does behind some blanks. Absent where there is nothing to do. */
  next?: string
  /** The line to type once `next` has helped. */
  afterwards?: string
  /** Another line than `next`: it leaves an upgrade where it is. */
  instead?: string
  /** The line that shows more of what `next` is about. */
  details?: string
  /** The line that goes back. */
  back?: string
}

/** All that a state is judged by. What is absent was not looked at, or is not there. */
export interface StateInputs {
  report: Judged
  /** As a person knows the cluster. */
  cluster?: string | undefined
  /** Of the journal: evidence, which the cluster has to confirm. */
  entries?: readonly Entry[] | undefined
  /** Open ones, as they are noted on their objects. */
  overrides?: readonly Override[] | undefined
  running?: ShownHolder | undefined
  /** Whether automatic VM updates can be resumed; absent where it is not known, or none is paused. */
  resuming?: 'taken' | 'refused' | undefined
  /** VMs whose migrations fail each time, `namespace/name`. */
  failing?: readonly string[] | undefined
  /** Of the last VM update, where its canary failed and is as it was. */
  canary?: FailedCanary | undefined
  /** What could not be looked at beyond what the report says, in sentences. */
  unread?: readonly string[]
  /** The release to go to, and the lines that do it and judge it first. */
  update?: { to: string; next: string; details: string } | undefined
  /** The line that goes back, where it would be done. */
  back?: string | undefined
  /** The line that continues, as it was typed. Absent: it is made of the version. */
  continues?: string | undefined
  /** What a run knows beyond what is seen: why there is no way back. */
  known?: readonly string[]
  /** It is drawn again and again already, or is a saved cluster, which stands still. */
  isWatched?: boolean
}

/** Of a status report what a state is made of. */
export type Judged = Pick<
  StatusReport,
  | 'takenAt'
  | 'verdict'
  | 'since'
  | 'why'
  | 'waitingFor'
  | 'components'
  | 'observed'
  | 'target'
  | 'generation'
  | 'doubts'
  | 'remarks'
  | 'overall'
  | 'layers'
  | 'window'
  | 'idleOperator'
  | 'next'
> & {
  installation?: { namespace: string; manager: { kind: string }; imageTag?: string }
  operator?: { version?: string } | undefined
  /** Absent: VMs were not asked for. */
  workloads?: Pick<StatusReport['workloads'], 'instances' | 'outdated' | 'problems' | 'troubled'>
}

/** Where the cluster stands. Pure: the time is that of the report. */
export function clusterState(inputs: StateInputs): ClusterState {
  const found = judges.map((judge) => judge(inputs)).find((state) => state !== undefined)
  const { why, next, afterwards, instead, details, back, ...state } = found ?? healthy(inputs)
  const upgrade = begunUpgrade(inputs)
  return {
    ...state,
    why: [...why, ...(inputs.known ?? [])],
    ...(upgrade && { upgrade }),
    ...linesOf({ next, afterwards, instead, details, back }),
  }
}

/** What KubeVirt is on the way to, or what kvup changed settings for. Where HyperConverged decides, its own release is the one to go to. */
function begunUpgrade(inputs: StateInputs): ClusterState['upgrade'] {
  const { installation, observed, target } = inputs.report
  const from = observed?.version
  const to = versionOf(target?.version)?.text
  const isOlm = installation?.manager.kind === 'hyperconverged'
  const begun =
    !isOlm && to !== undefined && to !== from && from !== undefined ? to : interruptedRun(inputs)?.to
  if (begun === undefined) return undefined
  return {
    ...(from !== undefined && { from }),
    to: begun,
    ...(isByTag(begun, inputs.report) && { method: 'image-tag' }),
  }
}

/** No kubeconfig names a cluster; `why` says what is missing. */
export const noCluster = (why: string): ClusterState => ({
  is: 'NoCluster',
  headline: `No cluster: ${why}`,
  why: [],
  next: 'kvup demo     tries an upgrade on a simulated cluster',
  details: 'kvup --help     lists the commands',
})

type Judge = (inputs: StateInputs) => ClusterState | undefined

/** The worst first. */
const judges: readonly Judge[] = [
  notInstalled,
  atFault,
  layerTroubled,
  running,
  interrupted,
  updating,
  layerMoving,
  outOfStep,
  canaryFailed,
  migrationsFailing,
]

function notInstalled({ report, cluster }: StateInputs): ClusterState | undefined {
  const { installation, idleOperator, overall, next = [] } = report
  if (installation || (overall && !idleOperator)) return undefined
  const version = idleOperator?.version
  return {
    is: 'NotInstalled',
    headline: `KubeVirt${on(cluster)} is not installed: virt-operator ${version ?? 'of unknown version'} runs, and there is no KubeVirt resource`,
    why: [
      `namespace ${idleOperator?.namespace ?? ''}; virt-operator does nothing until that resource exists`,
    ],
    ...(next[0] !== undefined && { next: next[0] }),
  }
}

/** KubeVirt itself is Stalled or Degraded. */
function atFault(inputs: StateInputs): ClusterState | undefined {
  const { report } = inputs
  const { verdict, why = [], waitingFor, since, takenAt } = report
  if (verdict !== 'Stalled' && verdict !== 'Degraded') return undefined
  const [cause] = why
  const span = since === undefined ? '' : ` for ${spanOf(since, takenAt)}`
  // What is known of a cause beyond its fact stands behind it.
  const [fact, ...known] = cause?.sentence.split('; ') ?? []
  const about = fact ?? (waitingFor === undefined ? '' : `waiting for ${waitingFor}`)
  return {
    is: verdict,
    headline: `${subject(inputs)}: ${verdict.toUpperCase()}${span}${about === '' ? '' : `: ${about}`}`,
    why: [
      known.join('; '),
      ...lastLog(cause),
      [progress(report), vmsText(report)].filter((text) => text !== undefined).join('; '),
      ...runLines(inputs),
      ...runningLines(inputs),
      ...pausedLines(inputs),
    ].filter((line) => line !== ''),
    ...linesOf(mending(inputs)),
  }
}

/** What shows or mends the first cause, the run that continues behind it, and the way back. */
function mending(inputs: StateInputs): Lines {
  const { report, back } = inputs
  const [cause] = report.why ?? []
  const run = interruptedRun(inputs)
  return {
    next: cause?.commands[0] ?? (run && continuing(run, inputs)),
    afterwards:
      cause &&
      run &&
      continuing(
        run,
        inputs,
        cause.kind === 'image'
          ? 'continues, once the image can be pulled'
          : 'continues, once that is repaired',
      ),
    back: back ?? backIn(cause, report),
  }
}

/** The sentence of some causes has it already. */
const lastLog = (cause: Cause | undefined): string[] =>
  cause?.lastLog === undefined || cause.sentence.includes(cause.lastLog)
    ? []
    : [`last log line: "${cause.lastLog}"`]

/** A cause that is mended by going back says so itself; what that takes away stands in the line. */
function backIn(cause: Cause | undefined, { observed, target }: Judged): string | undefined {
  const goesBack = `kvup upgrade --to ${observed?.version ?? ''}`
  const line = cause?.commands.slice(1).find((one) => one.startsWith(goesBack))
  if (line === undefined || commandOf(line) !== line) return line
  return `${line}     goes back${lossBehind(versionOf(target?.version), versionOf(observed?.version))}`
}

function progress({ components = [] }: Judged): string | undefined {
  const first = components.find(({ state }) => state !== 'current')
  if (first === undefined || first.desired === 0) return undefined
  const { name, updated, ready, desired, rolled } = first
  return rolled ? `${name}: ${ready} of ${desired} ready` : `${name}: ${updated} of ${desired} updated`
}

/** What KubeVirt stands on, or stands in. */
function layerTroubled(inputs: StateInputs): ClusterState | undefined {
  const { verdict } = inputs.report.overall ?? {}
  return verdict === 'Stalled' || verdict === 'Degraded' ? layerState(inputs, verdict) : undefined
}

function layerMoving(inputs: StateInputs): ClusterState | undefined {
  const { verdict } = inputs.report.overall ?? {}
  return verdict === 'Waiting' || verdict === 'Updating' ? layerState(inputs, verdict) : undefined
}

function layerState(
  inputs: StateInputs,
  verdict: 'Stalled' | 'Degraded' | 'Waiting' | 'Updating',
): ClusterState {
  const { overall, layers = [], window, installation, observed } = inputs.report
  const guilty = layers.filter((layer) => layer.verdict === verdict && layer.expected === undefined)
  const word = verdict === 'Stalled' || verdict === 'Degraded' ? verdict.toUpperCase() : verdict.toLowerCase()
  const because = overall?.because === undefined ? '' : `: ${overall.because}`
  const kubeVirt = installation ? `; KubeVirt ${observed?.version ?? ''} is healthy`.replace('  ', ' ') : ''
  return {
    is: verdict,
    headline: `${clusterName(inputs)} is ${word}${because}`,
    why: [
      ...(window ? [`${windowText(window)}${kubeVirt}`] : kubeVirt === '' ? [] : [kubeVirt.slice(2)]),
      ...runLines(inputs),
      ...aboutVms(inputs),
      ...runningLines(inputs),
      ...pausedLines(inputs),
    ],
    ...linesOf({
      next: window
        ? 'kvup eus status'
        : (guilty.flatMap(({ help = [] }) => help)[0] ??
          (verdict === 'Updating' ? watching(inputs) : undefined)),
    }),
  }
}

const clusterName = ({ cluster }: StateInputs): string =>
  cluster === undefined ? 'The cluster' : `Cluster ${cluster}`

function windowText({ from, at }: NonNullable<Judged['window']>): string {
  const where = [from && `from ${from}`, at && `now at ${at}`].filter(Boolean).join(', ')
  return `EUS upgrade running${where === '' ? '' : ` (${where})`}: worker pools are paused`
}

function running(inputs: StateInputs): ClusterState | undefined {
  const [line] = runningLines(inputs)
  if (line === undefined) return undefined
  const { report } = inputs
  return {
    is: 'Running',
    headline: `${subject(inputs)}: ${line}`,
    why: [
      ...waitingLines(report),
      ...(report.why ?? []).slice(0, 1).map(({ sentence }) => sentence),
      ...aboutVms(inputs),
      ...pausedLines(inputs),
    ],
    ...linesOf({ next: watching(inputs) }),
  }
}

/** What goes on by itself is watched. */
const watching = ({ isWatched }: StateInputs): string | undefined => (isWatched ? undefined : watchLine())

/** `another kvup is running: root@host since 22:14 (upgrade to v1.8.4)`. */
function runningLines({ running: holder, entries = [], report: { takenAt } }: StateInputs): string[] {
  if (holder === undefined || holder.gone) return []
  const [who = holder.holder] = holder.holder.split('/')
  const from = holder.since === undefined ? '' : ` since ${timeText(holder.since, takenAt)}`
  const run = lastRun(entries)
  const what = run !== undefined && run.end === undefined && run.by === who ? ` (${run.procedure})` : ''
  return [`another kvup is running: ${who}${from}${what}`]
}

function interrupted(inputs: StateInputs): ClusterState | undefined {
  const run = interruptedRun(inputs)
  if (run === undefined) return undefined
  const { report, back } = inputs
  const { takenAt, observed } = report
  const from = observed?.version === undefined || observed.version === run.to ? '' : `${observed.version} → `
  return {
    is: 'Interrupted',
    headline: `Upgrade ${from}${run.to}${on(inputs.cluster)} ${endText(run, takenAt)}; ${wordOf(report)}`,
    why: [...waitingLines(report), ...pausedLines(inputs), ...aboutVms(inputs)],
    ...linesOf({ ...repaired(continuing(run, inputs), report), instead: resumingAlone(inputs), back }),
  }
}

/** What holds it up is repaired first. */
function repaired(continues: string, { verdict, why = [] }: Judged): Lines {
  const [first] = verdict === 'Healthy' ? [] : (why[0]?.commands ?? [])
  return first === undefined ? { next: continues } : { next: first, afterwards: continues }
}

const wordOf = ({ verdict, why = [] }: Judged): string => {
  if (verdict === undefined) return 'KubeVirt was not checked: the API server does not answer'
  if (verdict === 'Healthy') return 'KubeVirt is healthy'
  return why[0] === undefined ? 'KubeVirt is still updating' : `KubeVirt is blocked: ${why[0].sentence}`
}

function runLines(inputs: StateInputs): string[] {
  const run = interruptedRun(inputs)
  return run ? [`the upgrade to ${run.to} by kvup was ${endText(run, inputs.report.takenAt)}`] : []
}

function updating(inputs: StateInputs): ClusterState | undefined {
  const { report } = inputs
  const { verdict, since, takenAt, observed, why = [] } = report
  if (verdict !== 'Updating') return undefined
  const [cause] = why
  const isIll = cause !== undefined && isThere(report)
  const word = observed?.version === undefined ? 'installing' : isIll ? 'not healthy' : 'updating'
  const span = since === undefined ? '' : ` for ${spanOf(since, takenAt)}`
  return {
    is: 'Updating',
    headline: `${subject(inputs)}: ${word}${span}${isIll ? `: ${cause.sentence}` : ''}`,
    why: [
      ...waitingLines(report),
      ...(cause && !isIll ? [cause.sentence] : []),
      ...pausedLines(inputs),
      ...aboutVms(inputs),
    ],
    ...linesOf({ next: cause?.commands[0] ?? watching(inputs) }),
  }
}

/** Every component is of the version that is asked for: nothing is left to be updated, and something is not ready. */
function isThere(report: Judged): boolean {
  const { components = [], observed } = report
  if (observed?.version === undefined || observed.version !== goalOf(report)) return false
  return components.every(({ updated, desired }) => updated >= desired)
}

const waitingLines = ({ waitingFor }: Judged): string[] =>
  waitingFor === undefined ? [] : [`waiting for ${waitingFor}`]

function outOfStep(inputs: StateInputs): ClusterState | undefined {
  const { report } = inputs
  const { components = [], observed, installation, doubts = [] } = report
  const others = components.filter(
    ({ version }) => version !== undefined && observed?.version !== undefined && version !== observed.version,
  )
  const doubt = doubts.find(({ id }) => id === 'old-pods' || id === 'component-not-stamped')
  if (others.length === 0 && doubt === undefined) return layerOutOfStep(inputs)
  const names = others.map(({ name, version }) => `${name} is ${version}`)
  const what = names.length > 0 ? names.join(', ') : (doubt?.sentence ?? '')
  const logs = `kubectl -n ${installation?.namespace ?? 'kubevirt'} logs -l kubevirt.io=virt-operator --tail=20`
  return {
    is: 'OutOfStep',
    headline: `${subject(inputs)}: OUT OF STEP: ${what}`,
    why: [
      'KubeVirt says that the update is done',
      ...(names.length > 0 && doubt ? [doubt.sentence] : []),
      ...pausedLines(inputs),
      ...aboutVms(inputs),
    ],
    ...linesOf({ next: doubt?.commands[0] ?? logs }),
  }
}

/** The operator of HyperConverged and the platform belong to different minors. */
function layerOutOfStep(inputs: StateInputs): ClusterState | undefined {
  const layer = inputs.report.layers?.find((one) => one.outOfStep !== undefined)
  if (layer === undefined) return undefined
  const { observed } = inputs.report
  const runs = observed?.version === undefined ? '' : ` (KubeVirt ${observed.version})`
  return {
    is: 'OutOfStep',
    headline: `${layer.title} ${layer.says}${runs}${on(inputs.cluster)}: OUT OF STEP with the platform`,
    why: [layer.outOfStep ?? '', ...pausedLines(inputs), ...aboutVms(inputs)],
    ...linesOf({ next: layer.help?.find((line) => /^(?:kvup|oc) /u.test(line)) }),
  }
}

/** Not before it is known why: the rest would fail like it, or do what resumed updates do to all VMs at once. */
function canaryFailed(inputs: StateInputs): ClusterState | undefined {
  const { canary, report } = inputs
  if (canary === undefined) return undefined
  const { vms, by, at, why } = canary
  return {
    is: 'CanaryFailed',
    headline: `${subject(inputs)}: healthy, but the canary of a VM update failed: ${someOf(vms)}`,
    why: [
      `the update by ${by} stopped ${spanOf(at, report.takenAt)} ago: ${why}`,
      `its line again tries another VM first, and leaves ${someOf(vms)} as ${vms.length === 1 ? 'it is' : 'they are'}`,
      ...pausedLines(inputs),
      ...aboutVms(inputs),
    ],
    next: 'kvup workloads migrations     shows why it failed',
    details: 'kvup history     shows that update',
  }
}

function migrationsFailing(inputs: StateInputs): ClusterState | undefined {
  const { failing = [] } = inputs
  const [first] = failing
  if (first === undefined) return undefined
  const more = failing.length > 3 ? ` and ${failing.length - 3} more` : ''
  return {
    is: 'MigrationsFailing',
    headline: `${subject(inputs)}: healthy, but ${failing.length === 1 ? 'a migration fails' : 'migrations fail'} again and again`,
    why: [
      `KubeVirt retries forever: ${failing.slice(0, 3).join(', ')}${more}`,
      ...pausedLines(inputs),
      ...aboutVms(inputs),
    ],
    next: 'kvup workloads migrations',
  }
}

function healthy(inputs: StateInputs): ClusterState {
  const { report, unread = [], update } = inputs
  const remarks = [...(report.remarks ?? []), ...(report.overall?.notJudged ?? []), ...unread]
  const isPartly = remarks.length > 0
  const word = isPartly ? 'healthy, but not everything was checked' : 'healthy'
  const offer = update ? `. Update available: ${update.to}` : ''
  const paused = pausedLines(inputs)
  const behind = outdatedOf(report)
  return {
    is: isPartly ? 'NotChecked' : 'Healthy',
    headline: `${subject(inputs)}: ${word}${offer}`,
    why: [...(isPartly ? [`not checked: ${someRemarks(remarks)}`] : []), ...paused, ...aboutVms(inputs)],
    ...linesOf(
      paused.length > 0
        ? { next: resuming(inputs) }
        : update
          ? { next: update.next, details: update.details }
          : { next: behind ? 'kvup workloads outdated' : undefined },
    ),
  }
}

const someRemarks = (remarks: readonly string[]): string =>
  `${remarks.slice(0, 2).join('; ')}${remarks.length > 2 ? ` and ${remarks.length - 2} more` : ''}`

const outdatedOf = ({ workloads }: Judged): number | undefined =>
  workloads?.outdated.labelled ?? workloads?.outdated.reported

/** `KubeVirt v1.7.4 → v1.8.4 on prod-eu`. */
function subject(inputs: StateInputs): string {
  const { report, cluster } = inputs
  const { observed, installation } = report
  if (!installation) return clusterName(inputs)
  const to = goalOf(report)
  const from = observed?.version
  const what = to === undefined || from === undefined || from === to ? (from ?? to) : `${from} → ${to}`
  return `KubeVirt${what === undefined ? '' : ` ${what}`}${on(cluster)}`
}

const on = (cluster: string | undefined): string => (cluster === undefined ? '' : ` on ${cluster}`)

/** The journal's name of the update methods; `overrideId` of the VMs' room is the same. */
const methodsId = 'workload-updates'

/** What kvup changed for a time, in sentences: the update methods, and how many others. */
export function temporaryChanges(overrides: readonly Override[], takenAt: string): readonly string[] {
  const methods = overrides.find(({ id }) => id === methodsId)
  const others = overrides.filter(
    (override) => override !== methods && targetOfName(override.procedure) === undefined,
  )
  return [
    ...(methods
      ? [
          `paused ${spanOf(methods.at, takenAt)} ago: automatic VM updates${wasText(methods)}; VMs run on, drains still move them; CPU, memory and volume changes wait`,
        ]
      : []),
    ...(others.length > 0
      ? [`${counted(others.length, 'temporary change')} of kvup: ${others.map(fieldOf).join(', ')}`]
      : []),
  ]
}

const pausedLines = ({ overrides = [], report: { takenAt } }: StateInputs): readonly string[] =>
  temporaryChanges(overrides, takenAt)

const wasText = ({ was }: Override): string =>
  was.present && Array.isArray(was.value) && was.value.length > 0 ? ` (was ${was.value.join(', ')})` : ''

/** What a temporary change is of: `paused of MachineConfigPool worker`. */
export const fieldOf = ({ path, object }: Pick<Override, 'path' | 'object'>): string =>
  `${path.slice(path.lastIndexOf('/') + 1).replaceAll('~1', '/')} of ${object.kind} ${object.name}`

/** Where a run paused them itself: its next run resumes them too, but not before KubeVirt is healthy. */
function resumingAlone({ overrides = [], resuming: judged }: StateInputs): string | undefined {
  const methods = overrides.find(({ id }) => id === methodsId)
  if (
    methods === undefined ||
    judged === 'refused' ||
    methods.goesBack !== undefined ||
    targetOfName(methods.procedure) !== undefined
  )
    return undefined
  return 'kvup workloads resume-updates     resumes automatic VM updates alone, once KubeVirt is healthy'
}

/** Never the line that would be refused: where it is, or where that is not known of outdated VMs, the VMs are moved first, or listed. */
function resuming({ overrides = [], resuming: judged, report }: StateInputs): string | undefined {
  const methods = overrides.find(({ id }) => id === methodsId)
  if (methods === undefined) return 'kvup restore-settings     restores every temporary change'
  if (targetOfName(methods.procedure) !== undefined) return 'kvup eus status'
  const behind = outdatedOf(report)
  if (judged === 'taken' || (judged === undefined && behind === 0))
    return 'kvup workloads resume-updates     resumes automatic VM updates'
  return (behind ?? 0) > 0 && isOneFirst(methods, report)
    ? 'kvup workloads update --canary 1     moves the VMs, one of them first'
    : 'kvup workloads outdated'
}

/** To resume Evict would interrupt VMs, and is refused until somebody accepts that; none of them needs a restart after a downgrade. */
function isOneFirst({ goesBack, was }: Override, { workloads }: Judged): boolean {
  const evicts = was.present && Array.isArray(was.value) && was.value.includes('Evict')
  return evicts && goesBack === undefined && !workloads?.outdated.newer
}

const aboutVms = ({ report }: StateInputs): string[] => {
  const text = vmsText(report)
  return text === undefined ? [] : [text]
}

/** `12 VMs running, none outdated`; undefined where nothing was said of a cluster without KubeVirt. */
function vmsText(report: Judged): string | undefined {
  if (!report.installation || !report.workloads) return undefined
  const { instances, problems = [], troubled } = report.workloads
  const behind = outdatedOf(report)
  const late = behind === undefined ? 'outdated ones not checked' : outdatedText(behind, report)
  const count =
    instances === undefined
      ? 'VMs not checked'
      : instances === 0
        ? 'no VM runs'
        : `${counted(instances, 'VM')}${troubled?.count ? '' : ' running'}, ${late}`
  return [count, ...problems].join('; ')
}

/** What runs a newer virt-launcher is labelled outdated as well, after a downgrade. */
function outdatedText(behind: number, { workloads, verdict }: Judged): string {
  const { newer = 0 } = workloads?.outdated ?? {}
  if (newer === 0) return `${behind === 0 ? 'none' : behind} outdated`
  // In the middle of an update theirs may be the one that it brings.
  const needs = verdict === 'Healthy' ? ` ${newer === 1 ? 'needs' : 'need'} a restart` : ''
  const restarts = `${newer} on a newer virt-launcher${needs}`
  return newer < behind ? `${behind - newer} outdated, ${restarts}` : restarts
}

interface Lines {
  next?: string | undefined
  afterwards?: string | undefined
  instead?: string | undefined
  details?: string | undefined
  back?: string | undefined
}

type StateLines = Pick<ClusterState, 'next' | 'afterwards' | 'instead' | 'details' | 'back'>

const linesOf = ({ next, afterwards, instead, details, back }: Lines): StateLines => ({
  ...(next !== undefined && { next }),
  ...(afterwards !== undefined && afterwards !== next && !isSameUpgrade(next, afterwards) && { afterwards }),
  ...(instead !== undefined && { instead }),
  ...(details !== undefined && { details }),
  ...(back !== undefined && back !== next && { back }),
})

/** Whether both lines upgrade to the same version, so that whoever types the first has no need of the other. */
export function isSameUpgrade(next: string | undefined, afterwards: string | undefined): boolean {
  const [one, other] = [next, afterwards].map((line) => /^kvup upgrade --to \S+/u.exec(line ?? '')?.[0])
  return one !== undefined && one === other
}

/** The upgrade goes on where the cluster stands, by the method that it was begun with. */
function continuing(run: Unfinished, { continues, report }: StateInputs, does = 'continues'): string {
  if (continues !== undefined) return `${continues}     ${does}`
  const manifest = run.hasOwnManifest ? '; add the --manifest or --manifest-base of that run' : ''
  return `kvup upgrade --to ${shellWord(run.to)}${isByTag(run.to, report) ? ' --method image-tag' : ''}     ${does}${manifest}`
}

/** A tag that an older operator was told to roll was asked for by name: by itself kvup would replace the operator. */
function isByTag(to: string, { installation, operator }: Judged): boolean {
  return installation?.imageTag === to && operator?.version !== undefined && operator.version !== to
}

const halfDay = 12 * 3_600_000

const two = (n: number): string => String(n).padStart(2, '0')

/** `22:14` in the reader's time zone, with its day where that was not today. */
function timeText(at: string, now: string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return 'an unknown time'
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`
  const isNear = Date.parse(now) - time.getTime() < halfDay
  return isNear ? clock : `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`
}
