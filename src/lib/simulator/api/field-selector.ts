import type { KubeObject } from '../../cluster/object.ts'
import { at } from './json.ts'
import { badRequest } from './refusal.ts'
import type { SimKind } from './sim-kind.ts'

export type FieldTest = (object: KubeObject) => boolean

const everywhere = new Set(['metadata.name', 'metadata.namespace'])
const perKind: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec.nodeName', 'spec.restartPolicy', 'spec.serviceAccountName', 'status.phase', 'status.podIP'],
  Event: [
    'involvedObject.kind',
    'involvedObject.namespace',
    'involvedObject.name',
    'involvedObject.uid',
    'involvedObject.apiVersion',
    'involvedObject.resourceVersion',
    'involvedObject.fieldPath',
    'reason',
    'reportingComponent',
    'source',
    'type',
  ],
  Node: ['spec.unschedulable'],
  Namespace: ['status.phase'],
  Secret: ['type'],
  Job: ['status.successful'],
}

/**
 * The one name that a list or watch is narrowed to: RBAC then asks for that name, as the real server does
 * (apiserver/pkg/endpoints/request/requestinfo.go), so that `resourceNames` can allow it.
 */
export function nameSelected(selector: string | undefined): string | undefined {
  return /(?:^|,)\s*metadata\.name==?(?<name>[^,]+)/.exec(selector ?? '')?.groups?.['name']
}

/** `metadata.name=x,status.phase!=Running`. Throws 400 for a field that the kind cannot be selected by. */
export function fieldTest(kind: SimKind, selector: string | undefined): FieldTest {
  if (selector === undefined || selector.trim() === '') return () => true
  const tests = selector
    .split(',')
    .filter((s) => s.trim() !== '')
    .map((s) => term(kind, s.trim(), selector))
  return (object) => tests.every((test) => test(object))
}

function term(kind: SimKind, source: string, whole: string): FieldTest {
  const { field, operator, value } =
    /^(?<field>[^=!]+)(?<operator>==|=|!=)(?<value>.*)$/.exec(source)?.groups ?? {}
  if (field === undefined || value === undefined)
    throw badRequest(`invalid field selector "${whole}"; can't understand '${source}'`)
  requireSelectable(kind, field)
  const path = field === 'source' ? ['source', 'component'] : field.split('.')
  const equal = (object: KubeObject) => plain(at(object, ...path)) === value
  return operator === '!=' ? (object) => !equal(object) : equal
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
}

function requireSelectable(kind: SimKind, field: string): void {
  const more = perKind[kind.kind]
  if (everywhere.has(field) || more?.includes(field) === true) return
  throw badRequest(
    kind.builtIn && !more
      ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  )
}
