import type * as kube from '../kinds.ts'
import type { KubeObject } from '../../lib/kube/object.ts'
import { fillTemplate } from '../placeholders.ts'
import { kubeVirtDefinition } from './kubevirt-crds.ts'
import table from './release-objects.json' with { type: 'json' }
import { isAtLeast } from './virt-operator-context.ts'

export interface ManifestOptions {
  /** Default `quay.io/kubevirt`. */
  registry?: string
  /** Images that the operator's environment pins: `VIRT_API_IMAGE` and the like. */
  pinned?: Readonly<Record<string, string>>
  /** Of everything in it; default `kubevirt`. */
  namespace?: string
}

/** The objects of a release's kubevirt-operator.yaml, in its order (facts 7). */
export function operatorManifest(version: string, options: ManifestOptions = {}): KubeObject[] {
  const { registry = 'quay.io/kubevirt', pinned = {}, namespace = 'kubevirt' } = options
  const words: Readonly<Record<string, string>> = { version, registry, namespace }
  const [first, ...rest] = fillTemplate<KubeObject[]>(table.manifest, {
    word: (name) => words[name] ?? '',
    isAtLeast: (minor) => isAtLeast(version, minor),
  })
  const deployment: kube.Deployment | undefined = rest.at(-1)
  const env = deployment?.spec?.template?.spec?.containers?.[0]?.env
  env?.push(...Object.entries(pinned).map(([name, value]) => ({ name, value })))
  const definition = kubeVirtDefinition(version)
  return [...(first ? [first] : []), definition, ...rest]
}
