import { applyManifest as applyObjects } from '../../manifests/apply.ts'
import { isApplied, manifestChanges } from '../../manifests/changes.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { seconds } from '../../system/units.ts'

/** A release's kubevirt-operator.yaml, checked and made to fit this installation; loaded once, when it is first needed. */
export interface ReleaseManifest {
  load(): Promise<LoadedManifest>
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
      const { manifest, sha256 } = await release.load()
      const { objects, origin } = manifest
      const changes = await manifestChanges(reader, objects)
      if (isApplied(changes)) return { is: 'done' }
      const count = (is: string) => changes.filter((change) => change.is === is).length
      return {
        is: 'todo',
        change: `apply ${origin} (sha256 ${sha256.slice(0, 16)}…): ${objectsText(count('changed'), count('created'))}`,
      }
    },
    async apply({ reader, writer }) {
      const { objects } = (await release.load()).manifest
      await applyObjects(objects, { reader, writer })
    },
  }
}

function objectsText(changed: number, created: number): string {
  const change = changed === 1 ? '1 object changes' : `${changed} objects change`
  if (created === 0) return change
  return `${change}, ${created === 1 ? '1 is new' : `${created} are new`}`
}
