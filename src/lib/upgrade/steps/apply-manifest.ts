import { nameOf } from '../../manifests/name-of.ts'
import { applyManifest as applyObjects } from '../../manifests/apply.ts'
import { isApplied, manifestChanges } from '../../manifests/changes.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { seconds } from '../../system/units.ts'

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
