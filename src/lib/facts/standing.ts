import { type Cause, concerns } from './cause.ts'
import { causes, isTerminal } from './causes.ts'
import type { ComponentStanding } from './component-standing.ts'
import { components } from './components.ts'
import { deploymentFailure, failurePersists, type JudgedCondition, judgedConditions } from './conditions.ts'
import { type Doubt, doubts } from './doubts.ts'
import { earliest, since } from './elapsed.ts'
import { gaps, remarks } from './gaps.ts'
import { theInstallation } from './installation.ts'
import type { LastLine } from './last-line.ts'
import type { Gap } from './kubevirt-word.ts'
import { lastChange } from './last-change.ts'
import { quietCause } from './quiet-cause.ts'
import { type OperatorStanding, operatorStanding } from './operator-standing.ts'
import type { Scene } from './scene.ts'
import type { Snapshot } from './snapshot.ts'
import { type StrategyJob, strategyJob } from './strategy-job.ts'

export type Verdict = 'Settled' | 'Updating' | 'Stalled' | 'Degraded'

/** No component changed for this long while something is under way: Stalled. */
const quietPatience = 10 * 60_000
/** Replicas short for this long with nothing moving: Degraded. */
const shortPatience = 60_000

export interface Standing {
  verdict: Verdict
  /** RFC 3339; one look can only say "at least". */
  since?: string
  /** What is in the way; also while Updating, before it counts. Empty when Settled. */
  why: readonly Cause[]
  /** The first thing that is missing for Settled. */
  waitingFor?: string
  /** In the order in which virt-operator rolls them. */
  components: readonly ComponentStanding[]
  operator: OperatorStanding | undefined
  target: Revision
  observed: Revision
  generation: { spec: number | undefined; observed: number | undefined }
  conditions: readonly JudgedCondition[]
  strategyJob?: StrategyJob
  /** What kvup expects beyond what KubeVirt and Kubernetes say, and does not see: no verdict depends on it. Empty unless KubeVirt says that it is done. */
  doubts: readonly Doubt[]
  /** What could not be seen and was therefore not judged: a Settled with remarks is one with that reservation. */
  remarks: readonly string[]
}

interface Revision {
  version?: string
  registry?: string
  /** The deployment ID. */
  id?: string
}

/**
 * The verdict of the contract over one look, at that time. Pure. Throws what `theInstallation` throws when there is not
 * exactly one KubeVirt.
 */
export function standing(snapshot: Snapshot, at: Date, lastLines: readonly LastLine[] = []): Standing {
  const { kubevirt, deployment } = theInstallation(snapshot)
  const scene: Scene = { snapshot, kubevirt, operator: deployment, at, lastLines }
  const operator = operatorStanding(scene)
  const job = strategyJob(scene)
  const rolled = components(scene)
  const open = gaps(scene, { components: rolled, operator, strategyJob: job })
  const found = open.length === 0 ? [] : causes(scene)
  const judged = judge(scene, { open, why: found, operator })
  const why = explained(judged, { found, open }, scene)
  const from = sinceOf(judged, scene, why)
  return {
    verdict: judged,
    ...(from === undefined ? {} : { since: from }),
    why,
    ...(open[0] ? { waitingFor: open[0].what } : {}),
    components: rolled.map((component) => held(component, why, at)),
    operator,
    ...revisions(scene),
    generation: { spec: kubevirt.metadata.generation, observed: kubevirt.status?.observedGeneration },
    conditions: judgedConditions(kubevirt, at),
    ...(job ? { strategyJob: job } : {}),
    doubts: doubts(scene, { components: rolled, operator }),
    remarks: remarks(scene, operator),
  }
}

/** A bad verdict never stands without a reason. */
function explained(
  verdict: Verdict,
  { found, open }: { found: readonly Cause[]; open: readonly Gap[] },
  scene: Scene,
): readonly Cause[] {
  const [gap] = open
  const bad = verdict === 'Stalled' || verdict === 'Degraded'
  return bad && gap && found.length === 0 ? [quietCause(scene, gap.what)] : found
}

interface Evidence {
  open: readonly Gap[]
  why: readonly Cause[]
  operator: OperatorStanding | undefined
}

function judge(scene: Scene, evidence: Evidence): Verdict {
  const { open, why } = evidence
  if (open.length === 0) return 'Settled'
  if (hasFailed(scene, evidence)) return 'Degraded'
  const underWay = open.some((gap) => gap.is === 'under-way')
  if (why.some((cause) => isTerminal(cause, scene.at))) return underWay ? 'Stalled' : 'Degraded'
  const quiet = since(lastChange(scene), scene.at) ?? 0
  const short = !underWay && open.some((gap) => gap.is === 'short')
  if (short && quiet >= shortPatience) return 'Degraded'
  return quiet >= quietPatience ? 'Stalled' : 'Updating'
}

/** What an operator said that is being replaced is not the last word (facts 2.7). */
function hasFailed({ kubevirt, at }: Scene, { operator }: Evidence): boolean {
  const replaced = operator?.rolled === false || operator?.leads === false
  return !replaced && failurePersists(kubevirt, at)
}

function sinceOf(verdict: Verdict, scene: Scene, why: readonly Cause[]): string | undefined {
  if (verdict === 'Settled') return lastChange(scene)
  if (verdict === 'Updating') return updateStart(scene)
  const terminal = why.filter((cause) => isTerminal(cause, scene.at)).map((cause) => cause.since)
  return earliest(terminal) ?? deploymentFailure(scene.kubevirt)?.since ?? lastChange(scene)
}

/** UpdateInProgress keeps its message, and so its time, for the whole update. */
function updateStart({ kubevirt }: Scene): string | undefined {
  // A condition that is brand-new has null there (facts 1.5).
  return (
    kubevirt.status?.conditions?.find((c) => c.type === 'Progressing' && c.status === 'True')
      ?.lastTransitionTime ?? undefined
  )
}

function held(component: ComponentStanding, why: readonly Cause[], at: Date): ComponentStanding {
  const stuck = why.some((cause) => concerns(cause, component.name) && isTerminal(cause, at))
  return stuck && component.state === 'rolling' ? { ...component, state: 'stalled' } : component
}

function revisions({ kubevirt }: Scene): { target: Revision; observed: Revision } {
  const { status = {} } = kubevirt
  return {
    target: revision(status.targetKubeVirtVersion, status.targetKubeVirtRegistry, status.targetDeploymentID),
    observed: revision(
      status.observedKubeVirtVersion,
      status.observedKubeVirtRegistry,
      status.observedDeploymentID,
    ),
  }
}

function revision(version?: string, registry?: string, id?: string): Revision {
  return { ...(version && { version }), ...(registry && { registry }), ...(id && { id }) }
}
