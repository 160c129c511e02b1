import { compareVersions, versionOf } from '../releases/version.ts'

const known = [
  'virt-handler',
  'virt-controller',
  'virt-exportproxy',
  'virt-synchronization-controller',
  'virt-template-apiserver',
  'virt-template-controller',
] as const
const last = 'virt-api'

/** What every installation has; the other components depend on version and feature gates. */
export const alwaysThere: readonly string[] = ['virt-handler', 'virt-controller', 'virt-api']

/** `update`: virt-handler first, virt-api last. `create` (install, same version, rollback): virt-api first (facts 2.5). */
export type RolloutPath = 'update' | 'create'

/** virt-operator's own choice: forward, or where a version cannot be read, it is an update. */
export function rolloutPath(observed: string | undefined, target: string | undefined): RolloutPath {
  if (!observed) return 'create'
  const [from, to] = [versionOf(observed), versionOf(target)]
  return from === undefined || to === undefined || compareVersions(to, from) > 0 ? 'update' : 'create'
}

/** Sorts by the order in which virt-operator rolls; components it does not know come before the one that ends. */
export function inRolloutOrder<T extends { name: string }>(components: readonly T[], path: RolloutPath): T[] {
  return components.toSorted((a, b) => rank(a.name, path) - rank(b.name, path) || (a.name < b.name ? -1 : 1))
}

function rank(name: string, path: RolloutPath): number {
  if (name === last) return path === 'update' ? known.length + 1 : -1
  const place = known.findIndex((component) => name.startsWith(component))
  if (place === 0 && path === 'create') return known.length + 1
  return place < 0 ? known.length : place
}
