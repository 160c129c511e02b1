import { isSecretName, redactBody, redactUrl } from '../http/redact.ts'
import type { KubeObject } from '../object.ts'

const hidden = '<redacted>'
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The same object without what is a secret by its name or shape: values of environment variables that are called so, names and
 * passwords in addresses, and both of them in what kubectl applied. Nothing is judged by these.
 */
export function withoutSecrets(object: KubeObject): KubeObject {
  return clean(object) as KubeObject
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('@') ? redactUrl(value) : value
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  const isSecret = 'name' in value && typeof value.name === 'string' && isSecretName(value.name)
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => [
      key,
      isSecret && key === 'value' ? hidden : kept(key, below),
    ]),
  )
}

const kept = (key: string, below: unknown): unknown =>
  key === lastApplied && typeof below === 'string' ? redactBody(below, '') : clean(below)

/** Of KubeVirt's own environment it is judged which release and which images it means. */
const judgedVariable = /^(?:KUBEVIRT_|VIRT_|OPERATOR_)|_(?:IMAGE|VERSION|SHASUM|NAME|NAMESPACE)$/
const ownGroups =
  /(?:^|\.)(?:kubevirt\.io|k8s\.io|kubernetes\.io|openshift\.io|coreos\.com|svc|local|example)$/i
const host = /\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}\b/giu
const address = /\b(?:\d{1,3}\.){3}\d{1,3}\b/gu
/** One dot is a file or a version as well; an address says that it is a host. */
const linked = /(?<=:\/\/)[^\s/:?#"'<>]+/gu

/**
 * What else says whose cluster it is, for `--redact`: values of environment variables, notes and names that people give to guests, what kubectl
 * applied, and hosts in texts. `machine`: a VM or VMI, whose template is of people as well.
 */
export function anonymous(value: unknown, isNote: (key: string) => boolean): unknown {
  const within = (one: unknown, key: string): unknown => {
    if (typeof one === 'string') return key === 'message' ? hostless(one) : one
    if (Array.isArray(one)) return one.map((each) => within(each, key))
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).flatMap(([name, below]) => member(one, key, name, below)))
  }
  const member = (whole: object, parent: string, name: string, below: unknown): [string, unknown][] => {
    if (parent === 'env' && name === 'value') return [[name, isJudged(whole) ? below : hidden]]
    if (name === 'hostname' || name === 'subdomain') return []
    // The size is judged, and nothing else.
    if (name === lastApplied) return [[name, 'x'.repeat(String(below).length)]]
    if ((parent === 'annotations' || parent === 'labels') && !isNote(name)) return []
    return [[name, within(below, name)]]
  }
  return within(value, '')
}

const isJudged = (variable: object): boolean =>
  'name' in variable && typeof variable.name === 'string' && judgedVariable.test(variable.name)

function hostless(text: string): string {
  return text
    .replace(linked, (one) => (ownGroups.test(one) ? one : 'host.example'))
    .replace(host, (one) => (one.split('.').length < 3 || ownGroups.test(one) ? one : 'host.example'))
    .replace(address, '192.0.2.1')
}
