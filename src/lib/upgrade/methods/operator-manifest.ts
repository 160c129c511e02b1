import type { Step, StepState } from '../../engine/step.ts'
import type { UpgradePlan } from '../upgrade-plan.ts'
import { liftImageTag, setImageTag } from './image-tag.ts'
import { settledAtOldVersion, stalledOr } from '../steps/verification.ts'
import { type Manifest, nameOf } from '../../manifests/manifest.ts'
import { applyManifest as applyObjects, isApplied, manifestChanges } from '../../manifests/apply-manifest.ts'
import { minutes, seconds, ticks } from '../../kube/clock.ts'
import type { Owner } from '../../vms/update-methods.ts'
import { look, lookFollows } from '../upgrade-snapshot.ts'

/** The release's kubevirt-operator.yaml; a tag that is set is treated by night U2. */
export function operatorManifestSteps(
  plan: UpgradePlan,
  manifest: ReleaseManifest,
  who: string,
): readonly Step[] {
  const { owner, tag, to } = plan
  const replace = [applyManifest(manifest), operatorRolled(owner, to.text)]
  if (tag.is === 'lift') return [liftImageTag(owner, { to: to.text, who }), ...replace]
  if (tag.is === 'pin')
    return [
      ...replace,
      settledAtOldVersion(owner, { version: tag.tag, settleMs: plan.request.settleMs }),
      setImageTag(owner, {
        from: tag.tag,
        tag: to.text,
        registry: plan.request.imageRegistry,
        operator: to.text,
      }),
    ]
  return replace
}

/** A release's kubevirt-operator.yaml, checked and made to fit this installation; loaded once, when it is first needed. */
export interface ReleaseManifest {
  /** Undefined where it cannot be read and is not needed: everything runs this release already. */
  load(): Promise<LoadedManifest | undefined>
  /** Why it could not be fetched for a plan, which is shown without it. */
  readonly unread?: string | undefined
}

export interface LoadedManifest {
  manifest: Manifest
  /** Of the text as it was read, hexadecimal: journalled with its origin. */
  sha256: string
}

/** Server-side apply as field manager `kvup`; what is there already is not written again (contract "Release manifests"). */
export function applyManifest(release: ReleaseManifest): Step {
  return {
    id: 'apply-operator-manifest',
    title: 'apply the operator manifest',
    patience: { every: 5 * seconds, atMost: 120 * seconds },
    estimate: 10 * seconds,
    follows: [],
    risk: { undo: 'apply the objects that were saved before', safeToLeave: 'the operator goes on by itself' },
    async check({ reader }): Promise<StepState> {
      if (release.unread !== undefined)
        return { is: 'blocked', reason: 'manifest-not-read', by: release.unread }
      const loaded = await release.load()
      if (loaded === undefined) return { is: 'done', note: 'not compared with its manifest' }
      const { manifest, sha256 } = loaded
      const { objects, origin } = manifest
      const changes = await manifestChanges(reader, objects)
      if (isApplied(changes)) return { is: 'done' }
      const changed = changes.filter(({ is }) => is === 'changed').length
      const created = changes.filter(({ is }) => is === 'created').map(({ wanted }) => nameOf(wanted))
      return {
        is: 'todo',
        change: `apply ${origin} (sha256 ${sha256.slice(0, 16)}…): ${objectsText(changed, created)}`,
      }
    },
    async apply({ reader, writer }) {
      const loaded = await release.load()
      if (loaded !== undefined) await applyObjects(loaded.manifest.objects, { reader, writer })
    },
  }
}

/** What is new is named: it is what a manifest from elsewhere would bring along. */
function objectsText(changed: number, created: readonly string[]): string {
  const change = changed === 1 ? '1 object changes' : `${changed} objects change`
  if (created.length === 0) return change
  const more = created.length > named ? ` and ${created.length - named} more` : ''
  const names = `${created.slice(0, named).join(', ')}${more}`
  return `${change}, ${created.length === 1 ? '1 is new' : `${created.length} are new`}: ${names}`
}

const named = 5

/** The real one takes the Lease within 23 s (lab README, Seen 1). */
const leadAtMost = 2 * minutes

/**
 * Waits until the new operator runs everywhere and leads: from the apply until then the CR says "all good" with the old
 * version for 20 s (lab README, Seen 1), and the old operator may fail on the new rights (facts 2.7).
 */
export function operatorRolled(owner: Owner, version: string): Step {
  let rolledSince: number | undefined
  return {
    id: 'virt-operator',
    title: 'virt-operator',
    patience: { every: 10 * seconds, atMost: 15 * minutes },
    estimate: 40 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'apply the saved manifest', safeToLeave: 'the operator goes on by itself' },
    async check(cx): Promise<StepState> {
      const { standing } = await look(cx, owner)
      const { operator } = standing
      if (!operator) return { is: 'waiting', on: 'the virt-operator Deployment to be there' }
      const progress = { done: operator.updated, total: operator.desired }
      if (operator.version !== version)
        return { is: 'waiting', on: `the virt-operator Deployment to say ${version}`, progress }
      if (!operator.rolled) rolledSince = undefined
      if (!operator.rolled)
        return stalledOr(standing, 'virt-operator', {
          is: 'waiting',
          on: `virt-operator pods of ${version}`,
          progress,
        })
      const now = ticks(cx.clock)
      rolledSince ??= now
      // Who leads may not be known, and another release may elect otherwise. What it does is waited for by the steps behind.
      if (operator.leads === false && now - rolledSince < leadAtMost)
        return { is: 'waiting', on: `a virt-operator of ${version} to take its Lease`, progress }
      return { is: 'done', note: `${operator.ready}/${operator.desired}` }
    },
  }
}
