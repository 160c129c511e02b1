import type { KubeObject } from '../../object.ts'

const publicRegistry = /^(quay\.io|docker\.io|ghcr\.io|gcr\.io|registry\.k8s\.io|registry\.redhat\.io)\b/
const image =
  /(?<registry>(?:[a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost)(?::\d+)?(?:\/[a-z0-9._-]+)*)\/[a-z0-9._-]+[:@]/gi

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
