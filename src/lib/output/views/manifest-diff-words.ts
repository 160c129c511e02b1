import type { ManifestDiff } from '../../manifests/manifest-diff.ts'
import { count } from '../count.ts'

type Role = ManifestDiff['rights'][number]
type Crd = ManifestDiff['crds'][number]

/** A diff with its heading: the lines begin with `+`, `-` or a blank. */
export interface Headed {
  heading: string
  lines: readonly string[]
}

/** `3 objects change; new: ClusterRole a, Role b` */
export function objectsText({ objects }: ManifestDiff): string {
  const changed = objects.filter(({ is }) => is === 'changed').length
  const created = objects.filter(({ is }) => is === 'created').map(({ kind, name }) => `${kind} ${name}`)
  const parts = [
    ...(changed > 0 ? [`${count(changed, 'object')} change${changed === 1 ? 's' : ''}`] : []),
    ...(created.length > 0 ? [`new: ${created.join(', ')}`] : []),
  ]
  return parts.length === 0 ? 'nothing: it is applied already' : parts.join('; ')
}

/** Lost rights first, and of these the ones that the running operator misses. At most so many lines. */
export function rightsOf(
  { kind, role, namespace, gained, lost, narrowed = [], lostWhileRunning }: Role,
  most: number,
): Headed {
  const missed = new Set(lostWhileRunning)
  const all = [
    ...lostWhileRunning.map((right) => `- ${right} ! virt-operator loses it before it is replaced`),
    ...lost.filter((right) => !missed.has(right)).map((right) => `- ${right}`),
    ...narrowed.map((right) => `~ ${right}: in the namespace of virt-operator only from then on`),
    ...gained.map((right) => `+ ${right}`),
  ]
  const place = namespace === undefined ? role : `${namespace}/${role}`
  return {
    heading: `${kind} ${place}: gains ${gained.length}, loses ${lost.length}${narrowed.length > 0 ? `, narrows ${narrowed.length}` : ''}`,
    lines: [
      ...all.slice(0, most),
      ...(all.length > most ? [`… and ${all.length - most} more (-o yaml)`] : []),
    ],
  }
}

export function crdOf({
  name,
  versionsAdded,
  versionsRemoved,
  storageFrom,
  storageTo,
  schemas,
}: Crd): Headed {
  return {
    heading: `CustomResourceDefinition ${name}`,
    lines: [
      ...versionsRemoved.map((version) => `- version ${version}`),
      ...versionsAdded.map((version) => `+ version ${version}`),
      ...(storageFrom === undefined ? [] : [`- stored as ${storageFrom}`, `+ stored as ${storageTo ?? ''}`]),
      ...schemas.flatMap(({ version, from, to }) => [`- ${version}: ${from}`, `+ ${version}: ${to}`]),
    ],
  }
}
