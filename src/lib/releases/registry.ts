import { usageError } from '../system/errors.ts'

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
  if (typed === '') return 'nothing was named'
  if (typed.length > longest) return 'it is too long'
  if (typed.includes('://')) return 'it is written without https://'
  if (/[^/]:[^/]*\D[^/]*$|@/u.test(typed)) return 'it is written without a tag or digest'
  return 'it is written like quay.io/kubevirt or mirror.example:5000/virt'
}
