import { type ConfigMap, ConfigMaps } from '../../cluster/kinds/core.ts'
import type { CatalogSource, InstallStep } from '../../cluster/kinds/operator-lifecycle.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { groupOf } from '../../cluster/kind.ts'
import type { ControllerContext } from '../machinery/controller.ts'
import { templateHash } from '../machinery/luck.ts'
import { versionOf } from '../api/kind-registry.ts'
import { bundleObjects, type Release } from './bundle-objects.ts'
import type { OlmShape } from './shape.ts'

/** Where the objects of a bundle lie that was unpacked, as a step refers to it (ocp 2.2). */
interface Reference {
  kind: 'ConfigMap'
  name: string
  namespace: string
  catalogSourceName: string
  catalogSourceNamespace: string
  replaces: string
}

/** What a plan does for one release. */
export function stepsOf(release: Release, shape: OlmShape): InstallStep[] {
  const { source, sourceNamespace } = shape
  return bundleObjects(release, shape).map((object) => ({
    resolving: release.entry.name,
    resource: {
      group: groupOf(object),
      version: versionOf(object.apiVersion),
      kind: object.kind,
      name: object.metadata.name,
      sourceName: source,
      sourceNamespace,
      manifest: JSON.stringify(shape.manifests === 'referenced' ? referenceTo(release, shape) : object),
    },
    status: 'Unknown',
  }))
}

/** Bears the hash of the bundle's image, as its Job does. */
export function unpackedName({ package: name, entry }: Pick<Release, 'package' | 'entry'>): string {
  return templateHash({ bundle: `${name}@${entry.version}` }).repeat(6)
}

function referenceTo(release: Release, { source, sourceNamespace }: OlmShape): Reference {
  return {
    kind: 'ConfigMap',
    name: unpackedName(release),
    namespace: sourceNamespace,
    catalogSourceName: source,
    catalogSourceNamespace: sourceNamespace,
    replaces: release.replaces ?? '',
  }
}

/** The ConfigMap that an unpacked bundle is kept in: a file for each object. */
export function unpackedBundle(release: Release, shape: OlmShape, owner: CatalogSource): ConfigMap {
  const { apiVersion, kind } = ConfigMaps
  const { name, uid = '' } = owner.metadata
  const files = bundleObjects(release, shape).map((object) => [fileOf(object), JSON.stringify(object)])
  return {
    apiVersion,
    kind,
    metadata: {
      name: unpackedName(release),
      namespace: shape.sourceNamespace,
      labels: { 'olm.managed': 'true', 'operatorframework.io/bundle-unpack-ref': unpackedName(release) },
      ownerReferences: [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: false }],
    },
    data: Object.fromEntries(files) as Record<string, string>,
  }
}

const fileOf = ({ kind, metadata }: KubeObject): string =>
  `${kind.toLowerCase()}_${metadata.name.replaceAll(':', '_')}.yaml`

/** The object that a step is to apply. Undefined where the ConfigMap that it refers to is gone. */
export async function objectOf(
  { reader }: Pick<ControllerContext, 'reader'>,
  { resource }: InstallStep,
): Promise<KubeObject | undefined> {
  const manifest = JSON.parse(resource?.manifest ?? '{}') as KubeObject | Reference
  if (!('namespace' in manifest)) return manifest
  const { name: of, namespace } = manifest
  const found = await reader.find(ConfigMaps, { name: of, namespace })
  if (found.is !== 'object') return undefined
  const { kind = '', name = '' } = resource ?? {}
  const file = found.object.data?.[fileOf({ apiVersion: '', kind, metadata: { name } })]
  return file === undefined ? undefined : (JSON.parse(file) as KubeObject)
}
