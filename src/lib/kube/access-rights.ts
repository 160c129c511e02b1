import { endpointsLine, shellWord } from './shell-line.ts'
import type { PolicyRule, Role } from './kinds/extension-kinds.ts'
import type { Access } from './cluster.ts'

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
  { apiGroups = [''], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule,
): string[] {
  const only = resourceNames.length === 0 ? [''] : resourceNames.map((name) => ` ${name}`)
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

/** What the API server's refusal of a write comes down to. */
interface Refusal {
  is: 'quota' | 'webhook-down' | 'webhook-refuses'
  /** A sentence without its subject's verb: `the webhook X does not answer, …`. */
  message: string
  /** Commands that show it. */
  commands: readonly string[]
}

/**
 * Reads the server's own words: a ResourceQuota that is used up, a webhook with failurePolicy Fail that nobody answers, one that says
 * no. `namespace` is where the object is. Undefined for any other refusal.
 */
export function readRefusal(text: string, namespace: string): Refusal | undefined {
  const [, quota, numbers] = /exceeded quota: ([^,\s]+)(?:, (requested: .*))?$/s.exec(text) ?? []
  if (quota !== undefined)
    return {
      is: 'quota',
      message: `the ResourceQuota ${quota} is used up${numbers ? ` (${numbers})` : ''}`,
      commands: [`kubectl -n ${namespace} describe resourcequota ${shellWord(quota)}`],
    }
  const silent = /failed calling webhook "([^"]+)"/.exec(text)?.[1]
  if (silent !== undefined) {
    const [, service, home = namespace] = /https:\/\/([^./:]+)\.([^./:]+)\.svc\b/.exec(text) ?? []
    const behind = service === undefined ? '' : `, service ${service} in namespace ${home}`
    const why = /: ([^:"]+)$/.exec(text.trim())?.[1]
    return {
      is: 'webhook-down',
      message: `the webhook ${silent} does not answer${behind}${why ? ` (${why.trim()})` : ''}`,
      commands: [service === undefined ? configurations : endpointsLine(service, home)],
    }
  }
  const [, webhook, why] = /admission webhook "([^"]+)" denied the request: (.*)/s.exec(text) ?? []
  if (webhook === undefined) return undefined
  return {
    is: 'webhook-refuses',
    message: `the webhook ${webhook} refuses it: ${why}`,
    commands: [configurations],
  }
}

const configurations = 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations'

/** `patch kubevirts.kubevirt.io in namespace kubevirt` */
export function accessText({ verb, group, resource, subresource, namespace, name }: Access): string {
  const kind = `${resource}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`
  return `${verb} ${kind}${name ? ` "${name}"` : ''}${namespace ? ` in namespace ${namespace}` : ''}`
}
