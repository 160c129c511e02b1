import type { RoleBinding } from '../cluster/kinds/extension.ts'
import type { KubeObject } from '../cluster/object.ts'
import { usageError } from '../system/errors.ts'
import { containersOf } from './containers.ts'
import { type Manifest, operatorManifest } from './manifest.ts'

/**
 * The manifest for the namespace that the operator lives in. Another one is refused (`usage`), because it would make a second
 * operator, unless `rewrite` asks to move everything in it: objects, subjects of bindings, environment.
 */
export function inNamespace(manifest: Manifest, namespace: string, rewrite: boolean): Manifest {
  if (manifest.namespace === namespace) return manifest
  if (!rewrite) {
    throw usageError(
      'manifest-namespace',
      `the manifest ${manifest.origin} is for namespace ${manifest.namespace}, the operator runs in ${namespace}`,
      { remedy: 'add --rewrite-namespace to apply it there instead' },
    )
  }
  const objects = manifest.objects.map((object) => moved(object, manifest.namespace, namespace))
  return operatorManifest(objects, manifest.origin)
}

function moved(object: KubeObject, from: string, to: string): KubeObject {
  const copy = structuredClone(object)
  if (copy.metadata.namespace === from) copy.metadata.namespace = to
  if (copy.kind === 'Namespace' && copy.metadata.name === from) copy.metadata.name = to
  for (const subject of (copy as RoleBinding).subjects ?? []) {
    if (subject.namespace === from) subject.namespace = to
  }
  for (const variable of containersOf(copy).flatMap((c) => c.env ?? [])) {
    if (variable.name.includes('NAMESPACE') && variable.value === from) variable.value = to
  }
  return copy
}
