import type { RunEvent, StepSummary } from '../engine/step.ts'
import { seconds } from '../kube/clock.ts'

/** A span of time that is not known exactly, in ms. */
export interface Range {
  low: number
  high: number
}

/**
 * What is known of a step by its id alone. A journal keeps nothing but ids, and a sealed plan is older than the run that carries it out: neither has
 * the `Step` at hand.
 */
interface StepTraits {
  /**
   * How long it takes on every cluster. `open-ended`: its end is up to somebody else, the people who commit or the VMs that migrate. `estimated`: as
   * its own estimate says, or the pods that it waits for.
   */
  takes: Range | 'open-ended' | 'estimated'
  /**
   * What rolls while a run stands right before it. `nothing-between`: nothing, and people may restart VMs there, between two releases or before the
   * first change. `nothing`: nothing, as before a change and once KubeVirt is healthy. `components`: virt-operator may be at work.
   */
  rolls: 'components' | 'nothing' | 'nothing-between'
  /** Where the live view shows it. Of a name that minors of KubeVirt and releases of the operator share, one for each. */
  stage: Stage | { minor: Stage; release: Stage }
  /** What its own change sets. */
  sets?: readonly Setting[]
}

/** A stage of an upgrade as a person sees it; `component` is called as the component itself. */
type Stage = 'Prepare' | 'Operator' | 'HyperConverged' | 'component' | 'Verify' | 'VMs'

/** `version`: it sets a new version going, with its CRDs. `tag`: imageTag. `no-tag`: it takes imageTag out. `methods`: the workload update methods. */
type Setting = 'version' | 'tag' | 'no-tag' | 'methods'

/** One request and what the journal needs. */
const write: Range = { low: 0, high: 5 * seconds }

/**
 * By what the id begins with: what follows is the release of a path or of an operator. Ranges are from the recordings in test/transcripts/recorded
 * with room on both sides, for API servers that are nearer or further away and for the image of the strategy Job:
 * - apply-operator-manifest: 0.8 s (operator-v1.7.0-v1.8.4);
 * - install-strategy, from what set it going to the first operand: 14.4 s (imagetag), 14.9 s (operator), 14.7 s (workloads), 21.0 s (oldop);
 * - healthy-again: an edit of the CR is seen at once, or after 12 and 17 s (workloads-v1.7.0-v1.8.4);
 * - virt-controller-leads, after "done": 2.1 s (imagetag), 0.9 s (workloads), 0 s (the others).
 */
const table: Readonly<Record<string, StepTraits>> = {
  gate: { takes: 'estimated', rolls: 'nothing', stage: 'Prepare' },
  'gate-': { takes: 'estimated', rolls: 'nothing-between', stage: { minor: 'Prepare', release: 'Operator' } },
  'pause-workload-updates': { takes: write, rolls: 'nothing', stage: 'Prepare', sets: ['methods'] },
  'migrations-in-flight': { takes: 'open-ended', rolls: 'nothing-between', stage: 'Prepare' },
  'apply-operator-manifest': {
    takes: { low: 0, high: 20 * seconds },
    rolls: 'nothing',
    stage: 'Operator',
    sets: ['version'],
  },
  'lift-image-tag': { takes: write, rolls: 'nothing', stage: 'Operator', sets: ['no-tag'] },
  'set-image-tag': { takes: write, rolls: 'nothing', stage: 'Operator', sets: ['version', 'tag'] },
  'virt-operator': { takes: 'estimated', rolls: 'components', stage: 'Operator' },
  'version-committed': { takes: 'open-ended', rolls: 'components', stage: 'Operator' },
  'set-channel': { takes: 'estimated', rolls: 'nothing', stage: 'Operator' },
  'install-plan': { takes: 'estimated', rolls: 'components', stage: 'Operator' },
  approve: { takes: 'estimated', rolls: 'nothing', stage: 'Operator' },
  'plan-complete': { takes: 'estimated', rolls: 'components', stage: 'Operator' },
  'csv-succeeded': { takes: 'estimated', rolls: 'components', stage: 'Operator' },
  'hyperconverged-at': { takes: 'estimated', rolls: 'components', stage: 'HyperConverged' },
  'operands-rolled': { takes: 'estimated', rolls: 'components', stage: 'HyperConverged' },
  'healthy-at-old-version': { takes: 'estimated', rolls: 'components', stage: 'Operator' },
  'install-strategy': {
    takes: { low: 4 * seconds, high: 40 * seconds },
    rolls: 'components',
    stage: 'Operator',
  },
  healthy: { takes: 'estimated', rolls: 'components', stage: 'Verify' },
  'virt-controller-leads': { takes: { low: 0, high: 15 * seconds }, rolls: 'nothing', stage: 'Verify' },
  'put-image-tag-in': { takes: write, rolls: 'components', stage: 'Verify', sets: ['tag'] },
  'resume-workload-updates': { takes: write, rolls: 'nothing', stage: 'Verify', sets: ['methods'] },
  'workload-updates-passed-on': { takes: 'estimated', rolls: 'nothing', stage: 'Verify' },
  'healthy-again': { takes: { low: 0, high: 25 * seconds }, rolls: 'nothing', stage: 'Verify' },
  workloads: { takes: 'open-ended', rolls: 'nothing', stage: 'VMs' },
  'vms-follow': { takes: 'open-ended', rolls: 'nothing-between', stage: 'VMs' },
}

/** A step that is called as the component that it waits for. */
const component: StepTraits = { takes: 'estimated', rolls: 'components', stage: 'component' }

/** The row of a step: the longest name that its id is or begins with (`set-image-tag-v1.6.0`); `gate-` wants a release behind it. A component's own name has none. */
export function rowOf(id: string): string | undefined {
  const names = Object.keys(table).filter(
    (name) => id === name || id.startsWith(name.endsWith('-') ? name : `${name}-`),
  )
  // Each of them begins with the one before it.
  return names.toSorted().at(-1)
}

const traitsOf = (id: string): StepTraits => table[rowOf(id) ?? ''] ?? component

export const takesOf = (id: string): StepTraits['takes'] => traitsOf(id).takes

/** A wait for VMs, the checks before the next minor, or the wait for migrations before the first change. Nothing rolls there, and people may restart VMs. */
export const isBetweenSteps = (id: string): boolean => traitsOf(id).rolls === 'nothing-between'

/**
 * No component rolls while a run stands before this step. What was lost up to there is told, and what becomes of VMs while it stands is none of its doing.
 */
export const isOutsideOfRolls = (id: string): boolean => traitsOf(id).rolls !== 'components'

/** Whether the change of this step sets that. */
export const setsIn = (id: string, what: Setting): boolean => traitsOf(id).sets?.includes(what) ?? false

/** The names of all steps whose change sets any of these, in the order of an upgrade. */
export const stepsThatSet = (...what: readonly Setting[]): readonly string[] =>
  Object.keys(table).filter((name) => what.some((one) => setsIn(name, one)))

/** The same event, its steps with the stages that they are of. What has a part already, as a minor whose turn has not come, keeps it. */
export function withStages(event: RunEvent): RunEvent {
  if (event.kind !== 'run-started' && event.kind !== 'steps-known') return event
  const minors = new Set(event.steps.map(({ hop = '' }) => hop).filter(isMinor))
  const steps = event.steps.map((step) => ({ part: stageOf(step, minors.size > 1), ...step }))
  return { ...event, steps }
}

const isMinor = (hop: string): boolean => hop.startsWith('v')

/** `Prepare`, `virt-handler`, `Operator 1.17.3`; where a run goes over several minors `v1.7.4: Prepare`. */
function stageOf({ id, title, hop }: StepSummary, isOneOfSeveral: boolean): string {
  const { stage } = traitsOf(id)
  const isOfRelease = hop !== undefined && !isMinor(hop)
  const named = typeof stage === 'string' ? stage : isOfRelease ? stage.release : stage.minor
  const name = named === 'component' ? title : named
  if (isOfRelease) return `${name} ${hop}`
  return isOneOfSeveral && hop !== undefined ? `${hop}: ${name}` : name
}
