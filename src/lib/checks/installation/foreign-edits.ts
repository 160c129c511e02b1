import type { KubeObject, ManagedField } from '../../cluster/object.ts'
import { itemsOf } from '../../facts/known.ts'
import { isOperand } from '../../facts/stamps.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'

/** Whoever writes what virt-operator made without being undone; their status writes are left out anyway. */
const expected = new Set(['virt-operator', 'kube-controller-manager', 'kube-apiserver'])

/** Facts 9.1: virt-operator sets its objects back, at the latest with the update. */
export const foreignEdits: Check = {
  id: 'foreign-edits',
  group: 'installation',
  title: 'nobody has edited what virt-operator manages',
  needs: ['deployments', 'daemonsets', 'crds'],
  blocks: false,
  assess: (question) => managed(question).flatMap(judged),
}

function managed({ evidence: { deployments, daemonsets, crds } }: Question): readonly KubeObject[] {
  return [...itemsOf(daemonsets), ...itemsOf(deployments), ...itemsOf(crds)].filter(isOperand)
}

function judged(object: KubeObject): readonly Finding[] {
  const foreign = object.metadata.managedFields?.filter(isForeign) ?? []
  if (foreign.length === 0) return []
  const name = `${object.kind.toLowerCase()}/${object.metadata.name}`
  const managers = [...new Set(foreign.map(({ manager = 'somebody' }) => manager))]
  const fields = [...new Set(foreign.flatMap(({ fieldsV1 = {} }) => fieldNames(fieldsV1)))]
  const where = object.metadata.namespace === undefined ? '' : `-n ${object.metadata.namespace} `
  return [
    {
      id: 'foreign-edits',
      level: 'warning',
      summary: `${managers.join(', ')} edited ${name} (${fields.slice(0, 3).join(', ')}): virt-operator sets it back, customizeComponents would last`,
      objects: [name],
      remedy: [`kubectl ${where}get ${name} -o yaml --show-managed-fields`],
    },
  ]
}

function isForeign({ manager = '', subresource }: ManagedField): boolean {
  return subresource === undefined && !expected.has(manager)
}

/** The deepest fields, as dotted paths; a list item is left out of them. */
function fieldNames(
  fields: Readonly<Record<string, unknown>>,
  path: readonly string[] = [],
): readonly string[] {
  return Object.entries(fields).flatMap(([key, below]) => {
    if (key === '.') return []
    const here = key.startsWith('f:') ? [...path, key.slice(2)] : path
    const deeper = fieldNames((below ?? {}) as Readonly<Record<string, unknown>>, here)
    return deeper.length > 0 ? deeper : [here.join('.')]
  })
}
