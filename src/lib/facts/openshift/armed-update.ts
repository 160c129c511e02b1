import type { ClusterVersion, PlatformRelease } from '../../cluster/kinds/openshift.ts'

/** An update that is asked for and neither running nor done. */
export interface ArmedUpdate {
  version?: string
  image?: string
}

/**
 * spec.desiredUpdate where the cluster follows another release: it was refused or not noticed yet, and starts by itself as soon as
 * nothing speaks against it any more (ocp 3.2).
 */
export function armedUpdate({ spec, status }: ClusterVersion): ArmedUpdate | undefined {
  const { version, image } = spec?.desiredUpdate ?? {}
  if (!version && !image) return undefined
  const asked = { ...(version && { version }), ...(image && { image }) }
  return isThe(asked, status?.desired ?? {}) ? undefined : asked
}

/** By the image where both name one: a release has one per architecture. */
function isThe(asked: ArmedUpdate, release: PlatformRelease): boolean {
  if (asked.image && release.image) return asked.image === release.image
  return asked.version !== undefined && asked.version === release.version
}
