import type { PolicyRule, Role } from './kinds/extension.ts'

/** Every right of a role on its own: `patch virtualmachineinstances.kubevirt.io`, with the object's name where it is limited to one. */
export function rightsIn(role: Role | undefined): Set<string> {
  return new Set((role?.rules ?? []).flatMap((rule) => rule.verbs.flatMap((verb) => named(verb, rule))))
}

/** Rights that a role gains or loses: `patch virtualmachineinstances.kubevirt.io`. */
export interface RightsChange {
  gained: readonly string[]
  lost: readonly string[]
}

/** Right by right, whatever a wildcard of another role covers. */
export function rightsBetween(after: Role | undefined, before: Role | undefined): RightsChange {
  const [then, now] = [rightsIn(after), rightsIn(before)]
  return {
    gained: [...then].filter((right) => !now.has(right)),
    lost: [...now].filter((right) => !then.has(right)),
  }
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

/** Whether these rights hold that one, wildcards included. */
export function holds(rights: ReadonlySet<string>, right: string): boolean {
  const [verb = '', what = '', ...name] = right.split(' ')
  const [resource = '', ...rest] = what.split('.')
  const group = rest.join('.').split('/')[0] ?? ''
  const whats = [what, inGroup('*', group), `${resource}.*`, '*.*']
  const limits = name.length > 0 ? [` ${name.join(' ')}`, ''] : ['']
  return [verb, '*'].some((v) => whats.some((w) => limits.some((limit) => rights.has(`${v} ${w}${limit}`))))
}
