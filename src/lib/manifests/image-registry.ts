import type { Deployment } from '../kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../kube/object.ts'
import {
  containersOf,
  type Manifest,
  operatorContainer,
  type OperatorImage,
  operatorImage,
  operatorManifest,
} from './manifest.ts'
import { shellWord } from '../kube/shell-line.ts'
import { usageError } from '../kube/errors.ts'

type Registry = Pick<OperatorImage, 'registry' | 'prefix'>

const publicRegistry = 'quay.io/kubevirt'

/**
 * Where the images are to come from: the registry that was asked for, else the mirror of the running operator where the
 * manifest names the public registry. Undefined: the manifest stays as it is.
 */
export function registryToKeep(
  manifest: Manifest,
  running: Deployment | undefined,
  asked?: string,
): Registry | undefined {
  const named = imageOf(manifest.operator)
  if (asked !== undefined) return { registry: asked.replace(/\/$/, ''), prefix: named?.prefix ?? '' }
  const live = running && imageOf(running)
  const mirrored = live !== undefined && live.registry !== publicRegistry
  return mirrored && named?.registry === publicRegistry ? live : undefined
}

/** A copy in which every image and *_IMAGE variable of the manifest's own registry comes from this one. */
export function fromRegistry(manifest: Manifest, to: Registry): Manifest {
  const from = imageOf(manifest.operator)
  if (from === undefined) return manifest
  const start = `${from.registry}/${from.prefix}`
  const rename = (image: string) =>
    image.startsWith(start) ? `${to.registry}/${to.prefix}${image.slice(start.length)}` : image
  return operatorManifest(
    manifest.objects.map((object) => renamed(object, rename)),
    manifest.origin,
  )
}

const imageOf = (operator: Deployment) => operatorImage(operatorContainer(operator)?.image)

function renamed(object: KubeObject, rename: (image: string) => string): KubeObject {
  const copy = structuredClone(object)
  for (const container of containersOf(copy)) {
    if (container.image !== undefined) container.image = rename(container.image)
    for (const variable of container.env ?? []) {
      const image = variable.name.endsWith('_IMAGE') ? variable.value : undefined
      if (image !== undefined) variable.value = rename(image)
    }
  }
  return copy
}

/** Finding `manifest-registry`: the images would come from elsewhere than today, and nobody asked for that. */
export function registryFinding({ operator, origin }: Manifest, running: Deployment | undefined) {
  const named = operatorImage(operatorContainer(operator)?.image)?.registry
  const now = running && operatorImage(operatorContainer(running)?.image)?.registry
  if (named === undefined || now === undefined || named === now) return []
  return [
    {
      id: 'manifest-registry',
      level: 'blocker' as const,
      summary: `the manifest ${origin} takes its images from ${named}, but the running operator from ${now}`,
      remedy: [`add --image-registry ${shellWord(now)}     keeps the current one`],
    },
  ]
}

const host = String.raw`(?:[a-z0-9]+(?:[.-]+[a-z0-9]+)*|\[[0-9a-f:]+\])`
const registry = new RegExp(String.raw`^${host}(?::\d{1,5})?(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$`, 'i')
const longest = 200

/**
 * Where images come from, as `--image-registry` takes it: `quay.io/kubevirt`, `mirror.example:5000/virt`. Throws `usage` for
 * anything that cannot stand before `/virt-operator:v1.8.4`: it would be written into the cluster, where nothing refuses it.
 */
export function parseRegistry(text: string): string {
  const typed = text.trim().replace(/\/$/u, '')
  if (registry.test(typed) && typed.length <= longest) return typed
  throw usageError('not-a-registry', `${JSON.stringify(typed)} is not an image registry: ${mistake(typed)}`, {
    remedy: 'a host and a path, such as --image-registry quay.io/kubevirt',
  })
}

function mistake(typed: string): string {
  if (typed === '') return 'it is empty'
  if (typed.length > longest) return 'it is too long'
  if (typed.includes('://')) return 'write it without https://'
  if (/[^/]:[^/]*\D[^/]*$|@/u.test(typed)) return 'write it without a tag or digest'
  return 'write it like quay.io/kubevirt or mirror.example:5000/virt'
}
