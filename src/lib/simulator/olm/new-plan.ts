import { type InstallPlan, InstallPlans, type Subscription } from '../../cluster/kinds/operator-lifecycle.ts'
import { nameSuffix } from '../machinery/luck.ts'
import type { Release } from './bundle-objects.ts'
import type { NamespaceLook } from './namespace-look.ts'
import type { OlmContext } from './olm-context.ts'
import { stepsOf } from './plan-steps.ts'
import { changeStatus } from './subscription-status.ts'

/** A plan has no phase for so long: it is created, and then its status is written, ms. */
const statusAfter = 200

interface Update {
  subscription: Subscription
  release: Release
}

/**
 * Makes the plan of a namespace: with all updates in it that are not there yet, Manual where one Subscription is, referenced by those that
 * get something new (ocp 2.3). Throws ApiError 409 where somebody wrote to it between the two writes: it stays without a phase, and the
 * next look makes another one.
 */
export async function makePlan(
  cx: OlmContext,
  look: NamespaceLook,
  { updates, changed }: { updates: readonly Update[]; changed: readonly Update[] },
): Promise<void> {
  const generation = 1 + Math.max(0, ...look.plans.map(({ spec }) => spec?.generation ?? 0))
  const created = await cx.writer.create(InstallPlans, planOf(cx, look, { updates, generation }))
  await cx.clock.sleep(cx.faults.on.planStatusAfter ?? statusAfter, cx.signal)
  const { metadata, spec } = await cx.writer.mergePatch(
    InstallPlans,
    created.metadata,
    {
      ...(created.metadata.resourceVersion !== undefined && {
        metadata: { resourceVersion: created.metadata.resourceVersion },
      }),
      status: {
        phase: created.spec?.approved === true ? 'Installing' : 'RequiresApproval',
        catalogSources: [cx.shape.source],
        plan: updates.flatMap(({ release }) => stepsOf(release, cx.shape)),
        bundleLookups: [],
      },
    },
    'status',
  )
  const { name, uid = '' } = metadata
  const { apiVersion, kind } = InstallPlans
  for (const { subscription, release } of changed)
    await changeStatus(
      cx,
      subscription,
      {
        state: 'UpgradePending',
        currentCSV: release.entry.name,
        installPlanRef: { apiVersion, kind, name, namespace: look.namespace, uid },
        installplan: { apiVersion, kind, name, uuid: uid },
        installPlanGeneration: spec?.generation ?? generation,
      },
      { BundleUnpacking: undefined, BundleUnpackFailed: undefined },
    )
}

function planOf(
  cx: OlmContext,
  { namespace, subscriptions }: NamespaceLook,
  { updates, generation }: { updates: readonly Update[]; generation: number },
): InstallPlan {
  const isManual = subscriptions.some(({ spec }) => spec?.installPlanApproval === 'Manual')
  const labels = updates.map(({ release }) => [`operators.coreos.com/${release.package}.${namespace}`, ''])
  return {
    apiVersion: InstallPlans.apiVersion,
    kind: InstallPlans.kind,
    metadata: {
      name: `install-${nameSuffix(cx.random)}`,
      namespace,
      labels: Object.fromEntries(labels) as Record<string, string>,
      ownerReferences: subscriptions.map(({ apiVersion, kind, metadata }) => ({
        apiVersion,
        kind,
        name: metadata.name,
        uid: metadata.uid ?? '',
        controller: false,
      })),
    },
    spec: {
      approval: isManual ? 'Manual' : 'Automatic',
      approved: !isManual,
      clusterServiceVersionNames: updates.map(({ release }) => release.entry.name),
      generation,
    },
  }
}
