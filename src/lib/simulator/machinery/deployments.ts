import { type Deployment, Deployments, type ReplicaSet, ReplicaSets } from '../../cluster/kinds/apps.ts'
import { type ControllerContext, control } from './controller.ts'
import { reportDeployment } from './deployment-status.ts'
import { templateHash } from './luck.ts'
import { asSelector, ownerReference } from './pods.ts'
import { recordEvent } from './record-event.ts'
import { type Move, nextMoves } from './rolling-update.ts'

const hashLabel = 'pod-template-hash'

/** Rolls each Deployment from ReplicaSet to ReplicaSet, as maxSurge and maxUnavailable allow. */
export function runDeployments(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: Deployments }, { kind: ReplicaSets }], async () => {
    for (const deployment of await cx.reader.list(Deployments)) await roll(cx, deployment)
    return undefined
  })
}

async function roll(cx: ControllerContext, deployment: Deployment): Promise<void> {
  if (deployment.metadata.deletionTimestamp !== undefined) return
  const sets = await setsOf(cx, deployment)
  const hash = templateHash(deployment.spec?.template)
  const current =
    sets.find((set) => set.metadata.labels?.[hashLabel] === hash) ?? (await addSet(cx, deployment, hash))
  const old = sets.filter((set) => set !== current)
  await reportDeployment(cx, deployment, current, old)
  for (const move of nextMoves(deployment, current, old)) await scale(cx, deployment, move)
}

async function setsOf(cx: ControllerContext, { metadata, spec }: Deployment): Promise<ReplicaSet[]> {
  const labels = asSelector(spec?.selector?.matchLabels ?? {})
  const sets = await cx.reader.list(ReplicaSets, { namespace: metadata.namespace, labels })
  return sets.filter((set) => set.metadata.ownerReferences?.some((o) => o.uid === metadata.uid) ?? false)
}

function addSet(cx: ControllerContext, deployment: Deployment, hash: string): Promise<ReplicaSet> {
  const { metadata, spec } = deployment
  const template = spec?.template ?? {}
  const labels = { ...template.metadata?.labels, [hashLabel]: hash }
  return cx.writer.create(ReplicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${metadata.name}-${hash}`,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels,
      ownerReferences: [ownerReference(deployment)],
    },
    spec: {
      replicas: 0,
      selector: { matchLabels: { ...spec?.selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  })
}

async function scale(cx: ControllerContext, deployment: Deployment, { set, to }: Move): Promise<void> {
  const from = set.spec?.replicas ?? 0
  await cx.writer.mergePatch(ReplicaSets, set.metadata, { spec: { replicas: to } })
  await recordEvent(cx, deployment, {
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled ${to > from ? 'up' : 'down'} replica set ${set.metadata.name} from ${from} to ${to}`,
    by: 'deployment-controller',
  })
}
