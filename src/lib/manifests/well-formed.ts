import type { Deployment } from '../cluster/kinds/apps.ts'
import type { Role, RoleBinding } from '../cluster/kinds/extension.ts'
import type { KubeObject } from '../cluster/object.ts'

/** The first list in an object that kvup reads and that holds something else than objects; undefined where all is well. */
export function malformed(object: KubeObject): string | undefined {
  return (
    Object.entries(listsOf(object)).find(([, list]) => !isListOfObjects(list))?.[0] ?? withoutVerbs(object)
  )
}

function listsOf(object: KubeObject): Record<string, unknown> {
  const { containers, initContainers } = (object as Deployment).spec?.template?.spec ?? {}
  const all = [containers, initContainers].flatMap((list) => (isListOfObjects(list) ? (list ?? []) : []))
  return {
    rules: (object as Role).rules,
    subjects: (object as RoleBinding).subjects,
    containers,
    initContainers,
    env: all.flatMap(({ env }) => env ?? []),
  }
}

function withoutVerbs(role: Role): string | undefined {
  return (role.rules ?? []).every(({ verbs }) => Array.isArray(verbs)) ? undefined : 'verbs'
}

function isListOfObjects(list: unknown): boolean {
  if (list === undefined || list === null) return true
  return Array.isArray(list) && list.every((item) => typeof item === 'object' && item !== null)
}
