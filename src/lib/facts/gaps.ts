import { unmetCondition } from './conditions.ts'
import type { ComponentStanding } from './component-standing.ts'
import { itemsOf } from './known.ts'
import { type OperatorStanding, versionDiffers } from './operator-standing.ts'
import { infraPods, type Scene, targetId } from './scene.ts'
import { identifierOf } from './stamps.ts'
import type { StrategyJob } from './strategy-job.ts'

/** One thing that keeps it from being Settled. */
export interface Gap {
  /**
   * `under-way`: a new state was asked for and is not reached. `short`: all is of the target, but not all is ready.
   * `said`: only the CR's conditions do not say so yet.
   */
  is: 'under-way' | 'short' | 'said'
  /** What is waited for. */
  what: string
}

export interface Parts {
  components: readonly ComponentStanding[]
  operator: OperatorStanding | undefined
  strategyJob: StrategyJob | undefined
}

/** Every rule of the contract's Settled that does not hold, in the order in which an update gets to them. */
export function gaps(scene: Scene, parts: Parts): Gap[] {
  return [
    ...deleting(scene),
    ...operatorGaps(scene, parts.operator),
    ...jobGap(parts.strategyJob),
    ...parts.components.flatMap(componentGap),
    ...oldPods(scene),
    ...targetGap(scene),
    ...generationGap(scene),
    ...conditionGap(scene),
  ]
}

const underWay = (what: string): Gap => ({ is: 'under-way', what })

function deleting({ kubevirt }: Scene): Gap[] {
  return kubevirt.metadata.deletionTimestamp ? [underWay('KubeVirt to be deleted')] : []
}

function operatorGaps(scene: Scene, operator: OperatorStanding | undefined): Gap[] {
  if (!operator)
    return scene.snapshot.operators.known
      ? [{ is: 'short', what: 'virt-operator: there is no such Deployment' }]
      : []
  const { rolled, leads, ready, updated, desired } = operator
  return [
    ...(rolled
      ? []
      : [
          underWay(
            `virt-operator: ${updated < desired ? `${updated}/${desired} updated` : 'an old pod to go'}`,
          ),
        ]),
    ...(rolled && leads === false ? [underWay('a pod of the current virt-operator to take its Lease')] : []),
    ...(versionDiffers(scene, operator)
      ? [
          underWay(
            `virt-operator ${operator.version} to speak; the CR is still of ${scene.kubevirt.status?.operatorVersion}`,
          ),
        ]
      : []),
    ...(ready < desired ? [{ is: 'short', what: `virt-operator: ${ready}/${desired} ready` } as const] : []),
  ]
}

function jobGap(job: StrategyJob | undefined): Gap[] {
  return job && job.state !== 'done'
    ? [underWay(`the install strategy of ${job.version ?? 'the new version'}`)]
    : []
}

function componentGap(component: ComponentStanding): Gap[] {
  const { name, state, rolled, updated, ready, desired, detail } = component
  if (state === 'current') return []
  if (state === 'absent' || state === 'waiting') return [underWay(`${name}: ${detail}`)]
  const count = rolled ? `${ready}/${desired} ready` : `${updated}/${desired} updated`
  const what = `${name}: ${count}${detail ? `, ${detail}` : ''}`
  return [{ is: rolled ? 'short' : 'under-way', what }]
}

function oldPods(scene: Scene): Gap[] {
  const target = targetId(scene)
  const old = infraPods(scene).filter((pod) => identifierOf(pod) !== target)
  const [first] = old
  return first
    ? [
        underWay(
          `the pods of another version to go: ${first.metadata.name}${old.length > 1 ? ` and ${old.length - 1} more` : ''}`,
        ),
      ]
    : []
}

function targetGap({ kubevirt }: Scene): Gap[] {
  const { status = {} } = kubevirt
  if (!status.targetDeploymentID) return [underWay('virt-operator to take the KubeVirt resource on')]
  const same =
    status.targetDeploymentID === status.observedDeploymentID &&
    status.targetKubeVirtVersion === status.observedKubeVirtVersion &&
    status.targetKubeVirtRegistry === status.observedKubeVirtRegistry
  return same ? [] : [underWay(`virt-operator to finish ${status.targetKubeVirtVersion}`)]
}

function generationGap({ kubevirt }: Scene): Gap[] {
  const { generation } = kubevirt.metadata
  const { observedGeneration } = kubevirt.status ?? {}
  if (generation === observedGeneration) return []
  return [
    underWay(
      `virt-operator to act on generation ${generation}; it has finished ${observedGeneration ?? 'none'}`,
    ),
  ]
}

function conditionGap({ kubevirt }: Scene): Gap[] {
  const unmet = unmetCondition(kubevirt)
  return unmet === undefined ? [] : [{ is: 'said', what: `virt-operator to say that all is well: ${unmet}` }]
}

/** What could not be looked at, and was therefore not judged. */
export function remarks({ snapshot }: Scene, operator: OperatorStanding | undefined): string[] {
  const unseen = (['operators', 'deployments', 'daemonsets', 'pods', 'leases'] as const).flatMap((part) => {
    const seen = snapshot[part]
    return seen.known ? [] : [`${part} are not judged: ${seen.why}`]
  })
  const unclear =
    operator && operator.leads === undefined && snapshot.leases.known && itemsOf(snapshot.pods).length > 0
      ? [`it cannot be told which virt-operator leads: ${operator.leader ?? 'nobody'} is no pod of it`]
      : []
  return [...unseen, ...unclear]
}
