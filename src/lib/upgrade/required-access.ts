import type { Access } from '../cluster/cluster.ts'
import type { Method } from '../releases/operator-rule.ts'
import { type Right, type RoleName, rightsOf } from './rights.ts'
import { namesIn } from './roles.ts'

/** One question for the preflight. */
export interface NeededAccess {
  access: Access
  why: string
  /** A refusal is a warning, not the end. */
  optional: boolean
}

const roleOfMethod: Readonly<Record<Method, RoleName>> = {
  'image-tag': 'kvup-upgrade',
  'operator-manifest': 'kvup-operator-manifest',
  olm: 'kvup-olm',
}

/** The role that a method needs. */
export function roleFor(method: Method): RoleName {
  return roleOfMethod[method]
}

/** Every right of the method's role that an upgrade uses, one question per verb, resource and object name. */
export function requiredAccess(method: Method, namespace: string): NeededAccess[] {
  const used = rightsOf(roleFor(method)).filter(({ onlyChecks }) => !onlyChecks)
  return used.filter(isAskedFor).flatMap((right) => questions(right, namespace))
}

/** What `kvup check` asks about; that of its probes is asked for by whoever makes them. */
export function accessOf(role: RoleName, namespace: string): NeededAccess[] {
  return rightsOf(role)
    .filter(isAskedFor)
    .flatMap((right) => questions(right, namespace))
}

const isAskedFor = ({ onlyProbes, onlyStatus }: Right): boolean => !onlyProbes && !onlyStatus

/** What is granted to look at what is above KubeVirt: no preflight asks for it, for most clusters have none of it. */
export function statusAccess(namespace: string): NeededAccess[] {
  return rightsOf('kvup-view')
    .filter(({ onlyStatus }) => onlyStatus)
    .flatMap((right) => questions(right, namespace))
}

/** What `kvup check --probe-images` writes; all of it is needed then. */
export function probeAccess(namespace: string): NeededAccess[] {
  return rightsOf('kvup-upgrade')
    .filter(({ onlyProbes }) => onlyProbes)
    .flatMap((right) => questions(right, namespace))
}

function questions({ scope, group, resources, verbs, names, why, optional }: Right, namespace: string) {
  const where = scope === 'kubevirt' ? { namespace } : {}
  const objects = names.length > 0 ? namesIn(names, namespace).map((name) => ({ name })) : [{}]
  return resources.flatMap((path) => {
    const [resource = path, subresource] = path.split('/')
    const below = subresource === undefined ? {} : { subresource }
    return verbs.flatMap((verb) =>
      objects.map((only) => ({
        access: { verb, group, resource, ...below, ...where, ...only },
        why,
        optional,
      })),
    )
  })
}
