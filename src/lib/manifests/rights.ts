import type { KubeObject } from '../cluster/object.ts'
import type { PolicyRule, Role } from '../cluster/kinds/extension.ts'

/** Rights that a role gains or loses: `patch virtualmachineinstances.kubevirt.io`. */
export interface RightsChange {
  gained: readonly string[]
  lost: readonly string[]
}

/** Undefined for objects that are no roles, and for roles whose rights stay. */
export function rightsChange(wanted: KubeObject, live: KubeObject | undefined): RightsChange | undefined {
  if (!wanted.kind.endsWith('Role')) return undefined
  const [after, before] = [rightsOf(wanted), rightsOf(live)]
  const gained = [...after].filter((right) => !before.has(right))
  const lost = [...before].filter((right) => !after.has(right))
  return gained.length + lost.length === 0 ? undefined : { gained, lost }
}

function rightsOf(role: Role | undefined): Set<string> {
  return new Set((role?.rules ?? []).flatMap((rule) => rule.verbs.flatMap((verb) => named(verb, rule))))
}

function named(
  verb: string,
  { apiGroups = [''], resources = [], resourceNames, nonResourceURLs = [] }: PolicyRule,
): string[] {
  const only =
    resourceNames === undefined || resourceNames.length === 0 ? [''] : resourceNames.map((name) => ` ${name}`)
  const each = resources.flatMap((resource) => apiGroups.map((group) => inGroup(resource, group)))
  return [
    ...each.flatMap((resource) => only.map((name) => `${verb} ${resource}${name}`)),
    ...nonResourceURLs.map((url) => `${verb} ${url}`),
  ]
}

/** `virtualmachines.subresources.kubevirt.io/restart`: the group stands before the subresource, as in messages. */
function inGroup(resource: string, group: string): string {
  if (group === '') return resource
  const [name, ...sub] = resource.split('/')
  return [`${name}.${group}`, ...sub].join('/')
}
