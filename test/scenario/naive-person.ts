import {
  type InstallPlan,
  InstallPlans,
  type Subscription,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import { minute, second, type Stage } from './stage.ts'

export const pendingPlans = ({ simulated }: Stage): readonly InstallPlan[] =>
  (simulated.store.list(InstallPlans).items as InstallPlan[]).filter(({ spec }) => spec?.approved === false)

/** What a person who follows the documentation does. */
export async function approveWhateverIsThere(stage: Stage): Promise<void> {
  for (const { metadata } of pendingPlans(stage))
    await stage.cluster.writer.mergePatch(InstallPlans, metadata, { spec: { approved: true } })
}

export async function toChannel(stage: Stage, channel: string): Promise<void> {
  const [subscription] = stage.simulated.store.list(Subscriptions).items as Subscription[]
  if (subscription)
    await stage.cluster.writer.mergePatch(Subscriptions, subscription.metadata, { spec: { channel } })
}

/** A script that looks once a second and goes on as soon as it holds: whether it ever did. */
export async function scriptWaits(
  stage: Stage,
  holds: () => boolean,
  atMost: number = 30 * minute,
): Promise<boolean> {
  const end = stage.now + atMost
  while (!holds() && stage.now < end) await stage.until(second)
  return holds()
}

/** Follows the channel and approves what OLM makes of it, as soon as it asks for approval. */
export async function upgradeByHand(stage: Stage, channel: string): Promise<void> {
  await toChannel(stage, channel)
  const asks = () => pendingPlans(stage).some(({ status }) => status?.phase === 'RequiresApproval')
  if (!(await scriptWaits(stage, asks))) throw new Error('OLM offers nothing')
  await approveWhateverIsThere(stage)
}
