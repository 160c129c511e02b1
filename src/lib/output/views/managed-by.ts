import type { Manager } from '../../facts/ownership.ts'
import type { StatusReport } from '../../facts/status-report.ts'

const words: Record<Manager['kind'], string> = {
  plain: 'plain manifests',
  hyperconverged: 'HyperConverged',
  olm: 'OLM',
  helm: 'Helm',
  gitops: 'GitOps',
}

/** Who puts the KubeVirt back when it is edited, and where its images come from, in one line. */
export function managedBy({ installation: found }: Pick<StatusReport, 'installation'>): string {
  if (!found) return 'nobody'
  const { kind, owner, name, namespace } = found.manager
  const whole = [namespace, name].filter(Boolean).join('/')
  const who = owner && owner !== words[kind] ? `${words[kind]}, ${owner}` : words[kind]
  return `${who}${whole ? ` ${whole}` : ''} (${source(found)})`
}

function source({
  imageTag,
  imageRegistry,
  pinnedImages,
}: NonNullable<StatusReport['installation']>): string {
  if (pinnedImages.length > 0) return `${pinnedImages.length} images fixed by the operator's environment`
  if (imageTag) return `imageTag ${imageTag}${imageRegistry ? ` of ${imageRegistry}` : ''}`
  return imageRegistry
    ? `imageRegistry ${imageRegistry}, follows its operator`
    : 'no imageTag: follows its operator'
}
