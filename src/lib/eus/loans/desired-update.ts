import { isFields } from '../../cluster/apply/field-path.ts'
import { ClusterVersions } from '../../cluster/kinds/openshift.ts'
import { type Borrowable, borrowedField, type Place } from './borrowable.ts'
import type { Looked } from './fields.ts'

/** A release that the ClusterVersion is asked for. */
export interface Update {
  version: string
  image?: string | undefined
}

/** What says which release, and how: of a request that was made before, none of it holds for ours. */
const ofOneRequest: ReadonlySet<string> = new Set(['version', 'image', 'force', 'mode'])

/**
 * What the ClusterVersion is asked for: ours until it is accepted (night E6). Whatever else desiredUpdate holds stays (accepted risks, as oc keeps them; ocp 4.1),
 * but nothing is ever forced.
 */
export function desiredUpdate({ name, uid }: Looked, update: Update): Borrowable {
  const place: Place = {
    loan: 'desired-update',
    kind: ClusterVersions,
    ref: { name },
    uid,
    path: ['spec', 'desiredUpdate'],
    harmless: 'not at all while it is refused: it starts by itself once nothing is in the way any more',
  }
  const words = { meanwhile: update.version }
  const field = borrowedField(place, update, words)
  return {
    ...field,
    isTaken: (object) => isAskedFor(field.valueIn(object), update),
    takenValue: (object) => merged(field.valueIn(object), update),
    take: (object) => borrowedField(place, merged(field.valueIn(object), update), words).take(object),
  }
}

/** What is written to ask for a release: a version or an image alone where an architecture is named, which the API allows beside no image. */
export function updateFor(present: unknown, { version, image }: Update): { version: string; image?: string } {
  const architecture = isFields(present) ? present['architecture'] : undefined
  return image === undefined || architecture ? { version } : { version, image }
}

function merged(present: unknown, { version, image }: Update): Readonly<Record<string, unknown>> {
  const others = Object.entries(isFields(present) ? present : {}).filter(([key]) => !ofOneRequest.has(key))
  return { ...Object.fromEntries(others), version, ...(image !== undefined && { image }) }
}

/** Exactly it: another image of the same version is another release. */
export const isAskedFor = (present: unknown, { version, image }: Update): boolean =>
  isFields(present) && present['version'] === version && (present['image'] ?? '') === (image ?? '')
