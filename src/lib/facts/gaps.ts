import type { ComponentStanding } from './component-standing.ts'
import { itemsOf } from './known.ts'
import { beingDeleted, type Gap, underWay, wordGaps } from './kubevirt-word.ts'
import { isFresh, type OperatorStanding, versionDiffers } from './operator-standing.ts'
import { infraPods, type Scene, targetId } from './scene.ts'
import { identifierOf } from './stamps.ts'
import type { StrategyJob } from './strategy-job.ts'

export interface Parts {
  components: readonly ComponentStanding[]
  operator: OperatorStanding | undefined
  strategyJob: StrategyJob | undefined
}

/**
 * What keeps it from being done, in the order in which an update gets to it: what KubeVirt says itself, its operator's Deployment,
 * and what Kubernetes says of its components. Whatever kvup believes beyond that is a doubt (`doubts.ts`).
 */
export function gaps(scene: Scene, parts: Parts): readonly Gap[] {
  const said = wordGaps(scene.kubevirt)
  const isDone = said.length === 0
  return [
    ...said.filter(({ what }) => what === beingDeleted),
    ...operatorGaps(scene, parts.operator),
    ...jobGap(parts.strategyJob),
    ...parts.components.flatMap((component) => componentGap(component, isDone)),
    ...(isDone ? [] : oldPods(scene)),
    ...said.filter(({ what }) => what !== beingDeleted),
  ]
}

function operatorGaps(scene: Scene, operator: OperatorStanding | undefined): Gap[] {
  if (!operator)
    return scene.snapshot.operators.known
      ? [{ is: 'short', what: 'virt-operator: there is no such Deployment' }]
      : []
  const { rolled, leads, ready, updated, desired } = operator
  const fresh = isFresh(scene)
  return [
    ...(rolled
      ? []
      : [
          underWay(
            `virt-operator: ${updated < desired ? `${updated}/${desired} updated` : 'an old pod to go'}`,
          ),
        ]),
    ...(rolled && leads === false && fresh
      ? [underWay('a pod of the current virt-operator to take its Lease')]
      : []),
    ...(versionDiffers(scene, operator) && (!rolled || fresh)
      ? [
          underWay(
            `virt-operator ${operator.version} to speak; the CR is still of ${scene.kubevirt.status?.operatorVersion}`,
          ),
        ]
      : []),
    ...(ready === 0 && desired > 0
      ? [{ is: 'short', what: `virt-operator: ${ready}/${desired} ready` } as const]
      : []),
  ]
}

function jobGap(job: StrategyJob | undefined): Gap[] {
  return job && job.state !== 'done'
    ? [underWay(`the install strategy of ${job.version ?? 'the new version'}`)]
    : []
}

function componentGap(component: ComponentStanding, isDone: boolean): Gap[] {
  const { name, state, rolled, updated, ready, desired, detail } = component
  if (state === 'current' || (state === 'absent' && isDone)) return []
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
