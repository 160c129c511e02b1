import type { KubeObject } from '../../object.ts'

/** Or an API group that looks like one: Argo CD tracks `APP:kubevirt.io/KubeVirt:NAMESPACE/NAME`. */
const publicRegistry =
  /^(quay\.io|docker\.io|ghcr\.io|gcr\.io|registry\.redhat\.io|([a-z0-9-]+\.)*(kubevirt|k8s)\.io)(?![a-z0-9.-])/
/** From where a host begins, as long as hosts and paths can be: a large text takes no longer for being made of one word. */
const image =
  /(?<![a-z0-9-]|[a-z0-9-]\.)(?<registry>(?:[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,20}|localhost)(?::\d{1,5})?(?:\/[a-z0-9._-]{1,128}){0,15})\/[a-z0-9._-]{1,128}[:@]/gi

/** Registries of one's own, with their paths, the longest first, and what stands for them. */
export function registryStandIns(objects: readonly KubeObject[]): [registry: string, standIn: string][] {
  const found = new Set<string>()
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'string') for (const registry of registriesIn(value, key)) found.add(registry)
    else if (typeof value === 'object' && value !== null)
      for (const [name, below] of Object.entries(value)) look(below, name)
  }
  for (const object of objects) look(object, '')
  const own = [...found].filter((registry) => !publicRegistry.test(registry)).toSorted()
  return own
    .map((registry, index): [string, string] => [registry, `registry-${index + 1}.invalid/mirror`])
    .sort(([a], [b]) => b.length - a.length)
}

function registriesIn(text: string, key: string): string[] {
  if (/registry$/i.test(key)) return text === '' ? [] : [text]
  return [...text.matchAll(image)].flatMap(({ groups }) => groups?.['registry'] ?? [])
}
