import { usageError } from '../system/errors.ts'

/** Where a manifest comes from. */
export type ManifestSource = { from: 'file'; file: string } | { from: 'stdin' } | { from: 'url'; url: string }

export interface SourceOptions {
  /** `--manifest`: FILE, URL or `-`. */
  manifest?: string | undefined
  /** `--manifest-base`, a folder or an address: where releases lie, one folder per tag. */
  manifestBase?: string | undefined
}

/** Facts 7: the artifacts of a release. */
export const publicReleases = 'https://github.com/kubevirt/kubevirt/releases/download'

/** Default: the public release of that tag. Throws `usage` for a URL that may not be used. */
export function manifestSource({ manifest, manifestBase }: SourceOptions, tag: string): ManifestSource {
  if (manifest === '-') return { from: 'stdin' }
  if (manifest === undefined) {
    if (manifestBase === '')
      throw usageError('manifest-url', '--manifest-base is empty', {
        remedy: '--manifest-base DIR     with DIR/VERSION/kubevirt-operator.yaml for each release',
      })
    const base = (manifestBase ?? publicReleases).replace(/\/+$/, '')
    if (!isAddress(base)) return { from: 'file', file: `${base}/${tag}/kubevirt-operator.yaml` }
    return { from: 'url', url: secureUrl(`${base}/${tag}/kubevirt-operator.yaml`).href }
  }
  if (isAddress(manifest)) return { from: 'url', url: secureUrl(manifest).href }
  return { from: 'file', file: manifest }
}

const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text)

/** How the source is named to a person, in the plan and in the journal; a password in a URL is not shown. */
export function originOf(source: ManifestSource): string {
  if (source.from === 'file') return source.file
  if (source.from === 'stdin') return 'standard input'
  const url = new URL(source.url)
  if (url.password !== '') url.password = '***'
  return url.href
}

/** The address without its user and password; what is no address stays. For what is kept: a plan is reviewed by others. */
export function withoutLogin(text: string): string {
  const url = text.includes('://') ? URL.parse(text) : null
  if (url === null || (url.username === '' && url.password === '')) return text
  url.username = ''
  url.password = ''
  return url.href
}

/** https, or http to this machine. Throws `usage` otherwise. */
export function secureUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null) throw usageError('manifest-url', `${JSON.stringify(text)} is not a URL`)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url
  throw usageError('manifest-url', `${url.protocol}//${url.host} is not used for manifests: only https is`, {
    remedy: 'fetch it in another way and pass it with --manifest FILE --manifest-sha256 SUM',
  })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}
