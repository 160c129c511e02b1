import { itemsOf } from '../../kube/known.ts'
import { enters } from '../../releases/release-path.ts'
import { type Check, hopOf, type Question, checksOf, type Found } from '../check-definition.ts'
import { someOf } from '../../kube/text.ts'
import { holds, rightsBetween, rightsIn } from '../../kube/access-rights.ts'
import type { Role } from '../../kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../kube/object.ts'

const rightsCheck = checksOf('rights')

/** Contract "Rights": one question per verb of the method's role; what is optional costs words, not the upgrade. */
export const rights = rightsCheck('rights', {
  title: 'you have all the rights that this needs',
  unchecked: 'your permissions were not checked',
  findings: ['rights-optional'],
  needs: ['rights'],
  blocks: true,
  lacks({ snapshot }) {
    const open = itemsOf(snapshot.rights).flatMap(({ what, allowed }) => (allowed === undefined ? what : []))
    return open.length > 0 ? `kvup does not know whether you may ${someOf(open)}` : undefined
  },
  assess(question) {
    const refused = itemsOf(question.snapshot.rights).filter(({ allowed }) => allowed === false)
    const missing = refused.filter(({ optional }) => !optional).map(({ what }) => what)
    const extra = refused.filter(({ optional }) => optional).map(({ what }) => what)
    return [
      missing.length > 0 ? blocking(missing, question) : undefined,
      extra.length > 0 ? optional(extra, question) : undefined,
    ]
  },
})

const blocking = (missing: readonly string[], question: Question) =>
  ({
    level: 'blocker',
    summary: `you may not: ${someOf(missing)}`,
    objects: missing,
    remedy: bind(question),
  }) as const

const optional = (extra: readonly string[], question: Question) =>
  ({
    id: 'rights-optional',
    level: 'warning',
    summary: `kvup checks less, because you may not: ${someOf(extra)}`,
    objects: extra,
    remedy: bind(question),
  }) as const

/** What the role is bound with is printed above it. */
function bind({ target, method, installation }: Question): readonly string[] {
  const role = target === undefined ? 'kvup-view' : rolesCheck[method ?? 'operator-manifest']
  return [
    `kvup rbac ${role} --namespace-of-kubevirt ${installation.namespace} | kubectl apply -f -`,
    `bind ClusterRole and Role ${role} to this user: what it prints begins with how`,
  ]
}

const rolesCheck = {
  'image-tag': 'kvup-upgrade',
  'operator-manifest': 'kvup-operator-manifest',
  olm: 'kvup-olm',
} as const

/** An operator may only grant what it holds itself, and a tag gives it no rights (facts 2.2, lab 13). The target's own operator came with them. */
export const operatorRights = rightsCheck('operator-rights', {
  title: 'virt-operator has the rights that the target needs',
  unchecked: 'the permissions of virt-operator were not compared',
  needs: ['operatorRoles'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { method, manifest, target, rolloutStatus } = question
    if (method !== 'image-tag') return []
    if (manifest === undefined)
      return rolloutStatus.operator?.version === target?.text ? [] : [notCompared(question)]
    const may = all(itemsOf(question.snapshot.operatorRoles))
    const lacks = [...all(operatorsIn(manifest))].filter((right) => !holds(may, right))
    if (lacks.length === 0) return []
    return [
      {
        level: 'blocker',
        summary: `virt-operator lacks ${lacks.length} permissions that ${target?.text} needs, so KubeVirt would end Available=False: ${lacks.slice(0, 3).join(', ')}`,
        objects: lacks,
        standsAt: 'the rights that virt-operator may not grant',
        remedy: [`kvup upgrade --to ${target?.text} --method operator-manifest`],
      },
    ]
  },
})

const notCompared = (question: Question) =>
  ({
    level: 'info',
    summary: `the permissions of virt-operator were not compared: kvup has no manifest of ${question.target?.text}`,
    remedy: withManifest(question),
  }) as const

/** The same check with the manifest of the release, which it fetches. */
function withManifest({ target, asked }: Question): readonly string[] {
  if (target === undefined) return []
  const release = `https://github.com/kubevirt/kubevirt/releases/download/${target.text}`
  return [`${asked ?? `kvup check --to ${target.text}`} --manifest ${release}/kubevirt-operator.yaml`]
}

/** Roles are the target's before any pod is, and nobody keeps the old rights meanwhile (night C3, facts 2.7). */
export const rbacDiff = rightsCheck('rbac-diff', {
  title: 'no component loses a right before it is replaced',
  unchecked: 'permissions were not compared',
  needs: ['operatorRoles'],
  needsTarget: true,
  lacks: ({ manifest, target }) =>
    manifest === undefined ? `kvup has no manifest of ${target?.text ?? 'the target'}` : undefined,
  toSee: withManifest,
  assess: (question) => [...lostByComponents(question), lostByOperator(question)],
})

function lostByComponents(question: Question): readonly Found[] {
  const hop = hopOf(question)
  const lost = question.releases.lostRights?.filter((one) => hop && enters(hop, one.in)) ?? []
  return lost.map(({ component, what }) => ({
    level: 'info',
    summary: `${component} of ${hop?.from.text} loses "${what}" with the roles of ${hop?.to.text}, before it is replaced: its log says "forbidden" until then`,
    objects: [`${component}: ${what}`],
    remedy: [
      `kubectl -n ${question.installation.namespace} logs -l kubevirt.io=${component} --prefix --tail=20`,
    ],
  }))
}

/** The operator holds what its components hold: what it loses, one of them may lose too. */
function lostByOperator(question: Question): Found | undefined {
  const { manifest, target } = question
  if (manifest === undefined) return undefined
  const { gained, lost, narrowed } = operatorChange(manifest, question)
  if (lost.length + narrowed.length === 0) return undefined
  return {
    level: 'info',
    summary: `the manifest of ${target?.text} gives virt-operator ${countedRights(gained)} and takes ${lost.length}${goneText(lost, narrowed)}`,
    objects: [
      ...lost.map((right) => `lost: ${right}`),
      ...narrowed.map((right) => `only in its namespace: ${right}`),
      ...gained.map((right) => `gained: ${right}`),
    ],
    remedy: ['kubectl get clusterrole kubevirt-operator -o yaml'],
  }
}

const countedRights = ({ length }: readonly string[]) => `${length} ${length === 1 ? 'right' : 'rights'}`

const first = (all: readonly string[]) => all.slice(0, 3).join(', ')

/** What goes and what is narrowed, the first of them by name. */
function goneText(lost: readonly string[], narrowed: readonly string[]): string {
  const gone = lost.length > 0 ? `: ${first(lost)}` : ''
  return narrowed.length > 0 ? `${gone}; in its own namespace only: ${first(narrowed)}` : gone
}

/** The roles of the operator in the manifest; roles for people (`kubevirt.io:operator`) are not the operator's. */
function operatorsIn(manifest: readonly KubeObject[]): readonly Role[] {
  const account = manifest.find(({ kind }) => kind === 'ServiceAccount')?.metadata.name ?? 'kubevirt-operator'
  return manifest.filter((object): object is Role => isRole(object) && object.metadata.name === account)
}

/** What a manifest does to the rights of virt-operator, right by right. */
interface OperatorChange {
  gained: readonly string[]
  lost: readonly string[]
  /** Held in every namespace now, and in its own alone afterwards. */
  narrowed: readonly string[]
}

/**
 * Counted role by role, as the plan counts. What another of its roles holds as well is not lost: the manifest replaces the roles that it brings; others stay, such as
 * those of the groups that every account is in.
 */
function operatorChange(manifest: readonly KubeObject[], { snapshot }: Question): OperatorChange {
  const brought = operatorsIn(manifest)
  const keys = new Set(manifest.filter(isRole).map(keyOf))
  const now = itemsOf(snapshot.operatorRoles)
  const after = [...brought, ...now.filter((role) => !keys.has(keyOf(role)))]
  const everywhere = all(after.filter(({ kind }) => kind === 'ClusterRole'))
  const here = all(after)
  const change = { gained: new Set<string>(), lost: new Set<string>(), narrowed: new Set<string>() }
  for (const role of brought) {
    const live = now.find((one) => keyOf(one) === keyOf(role))
    const { gained, lost } = rightsBetween(role, live)
    for (const right of gained) change.gained.add(right)
    for (const right of lost) {
      if (!holds(here, right)) change.lost.add(right)
      else if (role.kind === 'ClusterRole' && !holds(everywhere, right)) change.narrowed.add(right)
    }
  }
  return { gained: [...change.gained], lost: [...change.lost], narrowed: [...change.narrowed] }
}

const keyOf = ({ kind, metadata }: KubeObject) => `${kind}/${metadata.name}`

const isRole = ({ kind }: KubeObject) => kind === 'ClusterRole' || kind === 'Role'

const all = (roles: readonly Role[]) => new Set(roles.flatMap((role) => [...rightsIn(role)]))

/** Whether we, and virt-operator, may do what it takes. */
export const rightsChecks: readonly Check[] = [rights, operatorRights, rbacDiff]
