import type { ClusterRead } from '../upgrade-snapshot.ts'
import type { Step, StepContext, StepState } from '../../engine/step.ts'
import type { UpgradePlan } from '../upgrade-plan.ts'
import { settledAtOldVersion } from '../steps/component-rollout.ts'
import type { KubeVirt } from '../../kube/kinds/kubevirt-kinds.ts'
import { isWrittenByKvup, lastWriter } from '../../kube/last-writer.ts'
import { nameOf, readOwner } from '../../vms/strategy/settings-owner.ts'
import { type Owner, showWriters } from '../../vms/update-methods.ts'
import { seconds } from '../../kube/clock.ts'
import type { Override } from '../../engine/journal.ts'
import { closeNoted, noteGone, noteOf, ownersNow } from '../../engine/overrides.ts'
import { closeFormerOverride } from '../../vms/pause-updates.ts'

/**
 * One patch of the KubeVirt CR; the installed operator does the rest (facts 2.2). An operator that is new and still takes the
 * present version over is let finish first: a run that was cut off between the two rolls of night U2 goes on here.
 */
export function imageTagSteps(
  plan: UpgradePlan,
  operator: string | undefined,
  clusterRead: ClusterRead,
): readonly Step[] {
  const { owner, from, to, request } = plan
  const set = setImageTag(owner, { from, tag: to.text, registry: request.imageRegistry, operator })
  return from !== undefined && from !== to.text && isTakenOver(clusterRead)
    ? [settledAtOldVersion(owner, { version: from, stableMs: request.stableMs }), set]
    : [set]
}

/** Only while the CR still asks for that version: once the tag has moved, this roll never ends. */
function isTakenOver({ rolloutStatus: { target, observed }, snapshot: { kubevirts } }: ClusterRead): boolean {
  const tag = kubevirts.known ? kubevirts.items[0]?.spec?.imageTag : undefined
  return target.id !== observed.id && target.version === observed.version && target.version === tag
}

interface WantedTag {
  /** The version that is installed now: under it the former tag is kept, absence included. */
  from: string | undefined
  tag: string
  registry?: string | undefined
  /** The version of the operator: without a tag it installs that one. */
  operator: string | undefined
}

/** The journal's key of the tag that the CR had while `version` was installed. */
const formerTag = (owner: Owner, version: string) => `tag-at/${owner.uid}/${version}`

/**
 * Tag and registry move in one patch (night U3). Going back to a version at which the CR had no tag takes the tag out
 * again: the operator of that version is locked to it (facts 2.1).
 */
export function setImageTag(owner: Owner, wanted: WantedTag): Step {
  return {
    id: 'set-image-tag',
    title: 'set imageTag',
    patience: { every: 5 * seconds, atMost: 120 * seconds },
    estimate: 2 * seconds,
    watches: [],
    dependsOn: ['apply-operator-manifest'],
    risk: {
      undo: wanted.from ? `kvup upgrade --to ${wanted.from}` : 'none',
      safeToLeave: 'the operator continues by itself',
    },
    async check({ reader, journal }): Promise<StepState> {
      const kubevirt = await readOwner(reader, owner)
      const goal = await goalOf(journal, { owner, wanted, kubevirt })
      return isSo(kubevirt, goal) ? { is: 'done' } : { is: 'todo', change: changeText(kubevirt, goal, owner) }
    },
    shows: showWriters(owner),
    blame: async ({ reader }, after) => lastWriter(await readOwner(reader, owner), '/spec/imageTag', after),
    async apply({ reader, writer, journal }) {
      const kubevirt = await readOwner(reader, owner)
      const goal = await goalOf(journal, { owner, wanted, kubevirt })
      if (wanted.from !== undefined)
        await journal.keep(formerTag(owner, wanted.from), {
          tag: kubevirt.spec?.imageTag ?? null,
          registry: kubevirt.spec?.imageRegistry ?? null,
        })
      await writer.mergePatch(owner.kind, owner.ref, {
        metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '' },
        spec: { imageTag: goal.tag, ...(goal.registry !== undefined && { imageRegistry: goal.registry }) },
      })
    },
  }
}

/** null: absent; an undefined registry is left as it is. */
interface Goal {
  tag: string | null
  registry?: string | null | undefined
}

/**
 * What was kept lies in the journal, which others can write: it is believed as far as the cluster confirms it. That there was no tag, where the operator's own Deployment is of this version and
 * installs it without one. A registry never: one that kvup itself wrote is taken out again where there was none, so that the operator's own holds; every other stays.
 */
async function goalOf(
  journal: { kept(key: string): Promise<unknown> },
  { owner, wanted, kubevirt }: { owner: Owner; wanted: WantedTag; kubevirt: KubeVirt },
): Promise<Goal> {
  const former = await journal.kept(formerTag(owner, wanted.tag))
  const locked = wanted.operator === wanted.tag && wanted.registry === undefined
  if (!locked || !isFormer(former) || former.tag !== null)
    return { tag: wanted.tag, registry: wanted.registry }
  const isOurs =
    kubevirt.spec?.imageRegistry !== undefined && isWrittenByKvup(kubevirt, '/spec/imageRegistry')
  return { tag: null, ...(former.registry === null && isOurs && { registry: null }) }
}

function isFormer(value: unknown): value is { tag: string | null; registry: string | null } {
  return typeof value === 'object' && value !== null && 'tag' in value && 'registry' in value
}

const isSo = ({ spec }: KubeVirt, goal: Goal): boolean =>
  (spec?.imageTag ?? null) === goal.tag &&
  (goal.registry === undefined || (spec?.imageRegistry ?? null) === goal.registry)

function changeText(kubevirt: KubeVirt, goal: Goal, owner: Owner): string {
  const { imageTag: before = 'none', imageRegistry: registry } = kubevirt.spec ?? {}
  const name = nameOf(owner)
  if (goal.tag === null)
    return goal.registry === null
      ? `remove imageTag ${before} and imageRegistry ${registry ?? 'none'} from ${name} again`
      : `remove imageTag ${before} from ${name} again${registry === undefined ? '' : `; imageRegistry remains ${registry}`}`
  const beside = goal.registry ? ` and imageRegistry from ${registry ?? 'none'} to ${goal.registry}` : ''
  return `set imageTag of ${name} from ${before} to ${goal.tag}${beside}`
}

/** The journal's name of the tag that was taken out. */
export const imageTagOverride = 'image-tag'

interface SavedTag {
  tag: string
  registry?: string
}

const patience = { every: 5 * seconds, atMost: 120 * seconds }
const follows = [] as const

/**
 * Takes out a tag that says what the operator does anyway: the deployment ID stays the same (lab README, Seen 7), so nothing
 * rolls, and the new operator then rolls once instead of twice (night U2).
 */
export function liftImageTag(owner: Owner, { to, who }: { to: string; who: string }): Step {
  return {
    id: 'lift-image-tag',
    title: 'remove imageTag',
    patience,
    watches: follows,
    estimate: 2 * seconds,
    risk: {
      undo: 'set imageTag to the value in kvup history',
      safeToLeave: 'always: the operator installs the same version without it',
    },
    async check({ reader, journal }): Promise<StepState> {
      const { spec } = await readOwner(reader, owner)
      if (spec?.imageTag === undefined || spec.imageTag === to) return { is: 'done' }
      const kept = (await journal.overrides()).find((override) => isTagOverrideOf(override, owner))
      return {
        is: 'todo',
        change: `remove imageTag ${spec.imageTag}${spec.imageRegistry === undefined ? '' : ` and imageRegistry ${spec.imageRegistry}`} from ${nameOf(owner)}${kept ? ' again' : ', and save the value'}`,
      }
    },
    apply: (cx) => lift(cx, owner, { to, who }),
  }
}

async function lift(
  { reader, writer, journal, clock }: StepContext,
  owner: Owner,
  by: { to: string; who: string },
): Promise<void> {
  const kubevirt = await readOwner(reader, owner)
  const { imageTag: tag = '', imageRegistry: registry } = kubevirt.spec ?? {}
  const { name, namespace } = owner.ref
  await closeFormerOverride(journal, imageTagOverride, owner)
  const override = await journal.override({
    id: imageTagOverride,
    procedure: `upgrade to ${by.to}`,
    object: { apiVersion: owner.kind.apiVersion, kind: owner.kind.kind, namespace, name, uid: owner.uid },
    path: '/spec/imageTag',
    was: { present: true, value: { tag, ...(registry !== undefined && { registry }) } satisfies SavedTag },
    by: by.who,
    at: clock.now().toISOString(),
    harmless: 'always: the operator installs its own version without it',
    ...(registry !== undefined && ownersNow(kubevirt, imageTagOverride)),
  })
  await writer.mergePatch(owner.kind, owner.ref, {
    metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '', annotations: noteOf(override) },
    spec: { imageTag: null, imageRegistry: null },
  })
}

/** What is put in; without a registry the one that was taken out. */
interface PutIn {
  version: string
  registry: string | undefined
}

/** Puts the tag of the new version in where one was taken out; no roll, for the operator installs that version already. */
export function putImageTagIn(owner: Owner, wanted: PutIn): Step {
  const { version } = wanted
  return {
    id: 'put-image-tag-in',
    title: 'set imageTag again',
    patience,
    dependsOn: ['lift-image-tag'],
    watches: follows,
    estimate: 2 * seconds,
    risk: { undo: 'none', safeToLeave: 'always: the operator installs the same version without it' },
    async check({ journal }): Promise<StepState> {
      const override = (await journal.overrides()).find((one) => isTagOverrideOf(one, owner))
      if (override === undefined) return { is: 'done' }
      const registry = registryFor(override, wanted)
      const beside = registry === undefined ? '' : ` and imageRegistry to ${registry}`
      return { is: 'todo', change: `set imageTag of ${nameOf(owner)} to ${version}${beside}` }
    },
    apply: (cx) => putIn(cx, owner, wanted),
  }
}

/** The one that was taken out with the tag, as it is noted on this KubeVirt, unless another one was typed. */
function registryFor(override: Override, { registry: wanted }: PutIn): string | undefined {
  const former = formerRegistry(override)
  return former === undefined ? undefined : (wanted ?? former)
}

const formerRegistry = ({ was }: Override): string | undefined =>
  was.present ? (was.value as SavedTag).registry : undefined

async function putIn(cx: StepContext, owner: Owner, wanted: PutIn): Promise<void> {
  const { reader, writer, journal } = cx
  const override = (await journal.overrides()).find((one) => isTagOverrideOf(one, owner))
  const registry = override && registryFor(override, wanted)
  const kubevirt = await readOwner(reader, owner)
  const { imageTag, imageRegistry } = kubevirt.spec ?? {}
  const isIn = imageTag === wanted.version && (registry === undefined || imageRegistry === registry)
  // The note stays until the registry, where it is as it was, is a field of its former owners again.
  const isOwned =
    override?.owners !== undefined && registry !== undefined && registry === formerRegistry(override)
  const annotations = isOwned ? {} : noteGone(kubevirt, imageTagOverride)
  if (!isIn || Object.keys(annotations).length > 0)
    await writer.mergePatch(owner.kind, owner.ref, {
      metadata: { resourceVersion: kubevirt.metadata.resourceVersion ?? '', annotations },
      spec: { imageTag: wanted.version, ...(registry !== undefined && { imageRegistry: registry }) },
    })
  if (isOwned) await closeNoted(cx, owner, [imageTagOverride])
  else await journal.release(imageTagOverride)
}

function isTagOverrideOf(override: Override, owner: Owner): boolean {
  return override.id === imageTagOverride && override.object.uid === owner.uid
}
