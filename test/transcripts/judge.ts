import type { DaemonSet, Deployment } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeVirt } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { itemsOf } from '../../src/lib/kube/known.ts'
import type { Snapshot } from '../../src/lib/kubevirt/snapshot.ts'
import { assessRollout, type Verdict } from '../../src/lib/kubevirt/rollout-status.ts'
import { type Line, moments, type Replay } from './to-snapshots.ts'

/** So many ms the verdict may be behind the real operator. */
const lateAfter = 5000

/** What was said at one line of a recording. */
export interface Said {
  line: Line
  verdict: Verdict
  waitingFor: string | undefined
  doubts: readonly string[]
  /** The real operator says that it is done, by the conditions of its resource: see `ownDone`. */
  own: boolean
  /** A DaemonSet is being rolled, by its own status. */
  rolling: boolean
}

/** A time from which the real operator was done and no DaemonSet was rolling, and how far behind it the verdict was. */
export interface Done {
  /** ms since the start of the recording. */
  at: number
  /** When the verdict was Settled; undefined where it never was. */
  settledAt: number | undefined
  /** When no doubt was left behind it; undefined where one was left for as long as it lasted. */
  clearAt: number | undefined
  /** Doubts that were named behind it. */
  doubts: readonly string[]
  /** Until when it lasted, ms. */
  until: number
}

export interface Judgement {
  said: readonly Said[]
  dones: readonly Done[]
  /** Settled while the real operator was not done, or a roll was under way. */
  early: readonly Said[]
  /** Settled more than five seconds behind it. */
  late: readonly Done[]
}

/** Judges a recording line by line, and compares with what the real operator said itself. */
export function judge(lines: readonly Line[], replay: Replay): Judgement {
  const said = [...moments(lines, replay)].map(({ line, snapshot }): Said => {
    const { verdict, waitingFor, doubts } = assessRollout(snapshot, new Date(line.at))
    const [own, rolling] = [ownDone(snapshot), itemsOf(snapshot.daemonsets).some(isRolling)]
    return { line, verdict, waitingFor, doubts: doubts.map(({ id }) => id), own, rolling }
  })
  const end = lines.at(-1)?.t ?? 0
  const dones = donesOf(said, end)
  return {
    said,
    dones,
    early: said.filter(({ verdict, own, rolling }) => verdict === 'Healthy' && (!own || rolling)),
    late: dones.filter(({ at, settledAt, until }) => (settledAt ?? until) - at > lateAfter),
  }
}

function donesOf(said: readonly Said[], end: number): readonly Done[] {
  const dones: Done[] = []
  const isDone = ({ own, rolling }: Said): boolean => own && !rolling
  for (let from = said.findIndex(isDone); from >= 0;) {
    const next = said.findIndex((one, index) => index > from && !isDone(one))
    dones.push(doneOf(said.slice(from, next < 0 ? undefined : next), next < 0 ? end : timeOf(said[next])))
    from = next < 0 ? -1 : said.findIndex((one, index) => index > next && isDone(one))
  }
  return dones
}

function doneOf(during: readonly Said[], until: number): Done {
  const settled = during.filter(({ verdict }) => verdict === 'Healthy')
  const clear = settled.slice(settled.findLastIndex(({ doubts }) => doubts.length > 0) + 1)
  return {
    at: timeOf(during[0]),
    settledAt: settled[0]?.line.t,
    clearAt: clear[0]?.line.t,
    doubts: [...new Set(during.flatMap(({ doubts }) => doubts))],
    until,
  }
}

const timeOf = (said: Said | undefined): number => said?.line.t ?? 0

/**
 * KubeVirt's own word, read from its resource and its operator's Deployment, and by other code than kvup's: what a person would read with
 * kubectl. The resource alone says "all good" with the old version for 20 s after an operator manifest was applied, so its
 * operator's Deployment has to be rolled and to be of the version that wrote the resource.
 */
function ownDone(snapshot: Snapshot): boolean {
  const [kubevirt] = itemsOf(snapshot.kubevirts)
  const [operator] = itemsOf(snapshot.operators)
  return kubevirt !== undefined && operator !== undefined && saysSo(kubevirt) && hasSpoken(operator, kubevirt)
}

function saysSo({ metadata, status }: KubeVirt): boolean {
  const is = (type: string): string | undefined => status?.conditions?.find((c) => c.type === type)?.status
  return (
    metadata.deletionTimestamp === undefined &&
    is('Available') === 'True' &&
    is('Progressing') === 'False' &&
    is('Degraded') === 'False' &&
    is('Created') === 'True' &&
    is('Synchronized') !== 'False' &&
    metadata.generation === status?.observedGeneration &&
    status?.targetDeploymentID !== undefined &&
    status.targetDeploymentID === status.observedDeploymentID &&
    status.targetKubeVirtVersion === status.observedKubeVirtVersion
  )
}

function hasSpoken({ metadata, spec, status = {} }: Deployment, kubevirt: KubeVirt): boolean {
  const rolled =
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0) &&
    (status.updatedReplicas ?? 0) > 0 &&
    status.replicas === status.updatedReplicas
  const tag = /:(v\d+\.\d+\.\d+)$/.exec(spec?.template?.spec?.containers?.[0]?.image ?? '')?.[1]
  return rolled && (tag === undefined || tag === kubevirt.status?.operatorVersion)
}

function isRolling({ metadata, status = {} }: DaemonSet): boolean {
  const { desiredNumberScheduled: desired = 0, updatedNumberScheduled = 0, numberReady = 0 } = status
  const observed = (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return !observed || updatedNumberScheduled < desired || numberReady < desired
}
