/**
 * How the lists of a kind are merged: by which members the item is known (`['name']`), as a set of plain values, or
 * not at all (atomic). The path holds member names only, without list positions.
 */
export type ListKeys = (path: readonly string[]) => readonly string[] | 'set' | 'atomic'

const byName = ['name'] as const

const builtIn: Readonly<Record<string, readonly string[] | 'set'>> = {
  containers: byName,
  initContainers: byName,
  ephemeralContainers: byName,
  env: byName,
  volumes: byName,
  imagePullSecrets: byName,
  webhooks: byName,
  secrets: byName,
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  hostAliases: ['ip'],
  topologySpreadConstraints: ['topologyKey', 'whenUnsatisfiable'],
  conditions: ['type'],
  addresses: ['type'],
  podIPs: ['ip'],
}

const metadata: Readonly<Record<string, readonly string[] | 'set'>> = {
  ownerReferences: ['uid'],
  finalizers: 'set',
}

/** Lists of built-in kinds, as `x-kubernetes-list-map-keys` of the API server's own schema has them. */
export const builtInLists: ListKeys = (path) => {
  const field = path.at(-1) ?? ''
  if (path.at(-2) === 'metadata') return metadata[field] ?? 'atomic'
  if (field === 'ports')
    return path.includes('containers') ? ['containerPort', 'protocol'] : ['port', 'protocol']
  return builtIn[field] ?? 'atomic'
}

/** Lists of custom kinds are atomic unless their schema says otherwise. */
export const atomicLists: ListKeys = (path) =>
  path.at(-2) === 'metadata' ? (metadata[path.at(-1) ?? ''] ?? 'atomic') : 'atomic'

/** Maps that belong to one writer as a whole. */
export function atomicMap(path: readonly string[], isBuiltIn: boolean): boolean {
  const field = path.at(-1) ?? ''
  return isBuiltIn && (field === 'selector' || field === 'nodeSelector' || field === 'matchLabels')
}
