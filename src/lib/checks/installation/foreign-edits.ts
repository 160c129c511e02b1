import type { KubeObject, ManagedField } from '../../cluster/object.ts'
import { itemsOf } from '../../facts/known.ts'
import { isOperand } from '../../facts/stamps.ts'
import type { Check, Question } from '../check.ts'
import type { Finding } from '../finding.ts'
import { someOf } from '../../system/some-of.ts'

/** Whoever writes what virt-operator made without being undone; `before-first-apply` is Kubernetes' word for "cannot be told". */
const expected = new Set(['virt-operator', 'kube-controller-manager', 'kube-apiserver', 'before-first-apply'])

/** Facts 9.1: virt-operator sets its objects back, at the latest with the update. */
export const foreignEdits: Check = {
  id: 'foreign-edits',
  group: 'installation',
  title: 'nobody has edited what virt-operator manages',
  needs: ['deployments', 'daemonsets', 'crds'],
  blocks: false,
  assess(question) {
    const edits = managed(question).flatMap(editsOf)
    const names = [...new Set(edits.map(({ by }) => by))]
    return names.map((by) =>
      finding(
        by,
        edits.filter((edit) => edit.by === by),
        question,
      ),
    )
  },
}

interface Edit {
  by: string
  object: string
  fields: readonly string[]
}

function managed({ evidence: { deployments, daemonsets, crds } }: Question): readonly KubeObject[] {
  return [...itemsOf(daemonsets), ...itemsOf(deployments), ...itemsOf(crds)].filter(isOperand)
}

function editsOf({ kind, metadata }: KubeObject): readonly Edit[] {
  const foreign = metadata.managedFields?.filter(isForeign) ?? []
  return foreign.map(({ manager = 'somebody', fieldsV1 = {} }) => ({
    by: manager,
    object: `${kind.toLowerCase()}/${metadata.name}`,
    fields: fieldNames(fieldsV1),
  }))
}

/** One for each who edits, however many objects it was. */
function finding(by: string, edits: readonly Edit[], { installation }: Question): Finding {
  const objects = [...new Set(edits.map(({ object }) => object))]
  const fields = [...new Set(edits.flatMap((edit) => edit.fields))]
  return {
    id: 'foreign-edits',
    level: 'warning',
    summary: `${by} edited ${someOf(objects)} (${someOf(fields)}): virt-operator sets it back, customizeComponents would last`,
    objects,
    remedy: objects
      .slice(0, 3)
      .map((object) => `kubectl -n ${installation.namespace} get ${object} -o yaml --show-managed-fields`),
  }
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
