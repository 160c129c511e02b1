import type { CustomResourceDefinition } from '../../cluster/kinds/extension.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { itemsOf } from '../../facts/known.ts'
import { noWayBack } from '../../facts/no-way-back.ts'
import { reaches } from '../../releases/reaches.ts'
import type { Releases } from '../../releases/releases.ts'
import type { Version } from '../../releases/version.ts'
import type { Check } from '../check.ts'
import type { Finding } from '../finding.ts'

/** Facts 1.6: a version that is still stored cannot be dropped, nor be one that the target does not have yet; the update hangs with DeploymentFailed. */
export const crdStoredVersions: Check = {
  id: 'crd-stored-versions',
  findings: ['no-way-back'],
  group: 'installation',
  title: 'the CRDs store no version that this release lacks',
  needs: ['crds'],
  needsTarget: true,
  blocks: true,
  assess({ evidence, target, releases, standing, manifest = [] }) {
    if (target === undefined) return []
    const crds = itemsOf(evidence.crds)
    const back = noWayBack(target, crds, { standing, releases })
    if (back !== undefined) return [back]
    return crds.flatMap((crd) => {
      const gone = new Set([...droppedBy(target, crd, releases), ...missingIn(manifest, crd)])
      const stored = crd.status?.storedVersions?.filter((version) => gone.has(version)) ?? []
      return stored.length > 0 ? [finding(crd, stored, target)] : []
    })
  },
}

function droppedBy(
  target: Version,
  { spec }: CustomResourceDefinition,
  releases: Releases,
): readonly string[] {
  return releases.droppedCrdVersions
    .filter((dropped) => dropped.group === spec?.group && reaches(target, dropped.in))
    .flatMap(({ versions }) => versions)
}

/** What the manifest brings for the same CRD decides, where it was given. */
function missingIn(
  manifest: readonly KubeObject[],
  { metadata, status }: CustomResourceDefinition,
): readonly string[] {
  const wanted = manifest.find(
    (object): object is CustomResourceDefinition =>
      object.kind === 'CustomResourceDefinition' && object.metadata.name === metadata.name,
  )
  const brought = wanted?.spec?.versions?.map(({ name }) => name)
  return brought === undefined ? [] : (status?.storedVersions ?? []).filter((name) => !brought.includes(name))
}

function finding(crd: CustomResourceDefinition, stored: readonly string[], target: Version): Finding {
  const { name } = crd.metadata
  return {
    id: 'crd-stored-versions',
    level: 'blocker',
    summary: `${name} has objects stored as ${stored.join(' and ')}, which ${target.text} drops: the API server refuses the new CRD and the update hangs`,
    objects: [`customresourcedefinition/${name}`],
    remedy: forgotten(crd, stored),
  }
}

/** Every object is written once in the version that is stored now; then the CRD may forget the old ones, unless that is one of them. */
function forgotten(
  { metadata: { name }, spec, status }: CustomResourceDefinition,
  stored: readonly string[],
): readonly string[] {
  const now = spec?.versions?.find((version) => version.storage)?.name ?? ''
  if (stored.includes(now))
    return [`go through a release that stores another version than ${now}: kvup releases`]
  const keeps = status?.storedVersions?.filter((version) => !stored.includes(version)) ?? []
  const after = keeps.length > 0 ? keeps : [now]
  return [
    `kubectl get ${name} -A -o json | kubectl replace -f -`,
    `kubectl patch crd ${name} --subresource=status --type=merge -p '${JSON.stringify({ status: { storedVersions: after } })}'`,
  ]
}
