import { isBinding } from './manifest-extras.ts'
import type { KubeObject } from '../kube/object.ts'
import type { ObjectChange } from './apply-manifest.ts'
import { nameOf } from './manifest.ts'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type Role,
  type RoleBinding,
} from '../kube/kinds/extension-kinds.ts'
import { schemaChange } from '../kube/field-changes.ts'
import { type Deployment, Deployments } from '../kube/kinds/workload-kinds.ts'
import { holds, rightsIn } from '../kube/access-rights.ts'
import { Document, isCollection, isMap, isSeq } from 'yaml'

/** What a release manifest changes of what is installed: objects, rights, CRDs. */
export interface ManifestDiff {
  /** File, URL or `standard input`. */
  origin: string
  /** Of the text as it was read, hexadecimal. */
  sha256: string
  /** Those that are new or change, in the order in which they are applied. */
  objects: readonly { kind: string; namespace?: string; name: string; is: 'created' | 'changed' }[]
  rights: readonly RoleDiff[]
  crds: readonly CrdDiff[]
  /** In the cluster and not in the manifest: `ClusterRole kubevirt-old`. Never deleted. */
  left: readonly string[]
  /** What of night C3 a manifest cannot show. */
  unseen: string
}

/** Pure. `left`: what an older manifest has left (`notInManifest`); `source`: what was read. */
export function manifestDiff(
  changes: readonly ObjectChange[],
  left: readonly KubeObject[],
  { origin, sha256 }: Pick<ManifestDiff, 'origin' | 'sha256'>,
): ManifestDiff {
  const changing = changes.filter(({ is }) => is !== 'same')
  const operator = operatorRights(changes, left)
  return {
    origin,
    sha256,
    objects: changing.flatMap(({ wanted, is }) => (is === 'same' ? [] : [{ ...namedAs(wanted), is }])),
    rights: changing.flatMap((change) => roleDiff(change, operator)),
    crds: changing.flatMap(crdDiff),
    left: left.map(nameOf),
    unseen,
  }
}

/** The operator can only grant what it holds itself (lab 13), so its own role tells of the operands, but not of which. */
const unseen =
  'The manifest does not have the roles of virt-api, virt-controller, virt-handler and virt-exportproxy. The new operator creates them from its install strategy, before it replaces their pods. All of them lose a verb that the operator itself loses. kvup cannot see a verb that only one component loses: its log says "forbidden" until its pods are replaced.'

function namedAs({ kind, metadata }: KubeObject): { kind: string; namespace?: string; name: string } {
  const { namespace, name } = metadata
  return { kind, ...(namespace !== undefined && { namespace }), name }
}

interface CrdDiff {
  name: string
  versionsAdded: readonly string[]
  versionsRemoved: readonly string[]
  storageFrom?: string
  storageTo?: string
  /** Per version that is in both: `from: '4127 fields', to: '4390 fields: 275 added, …'`. */
  schemas: readonly { version: string; from: string; to: string }[]
}

type Version = NonNullable<NonNullable<CustomResourceDefinition['spec']>['versions']>[number]

function crdDiff({ wanted, live }: ObjectChange): CrdDiff[] {
  if (wanted.kind !== CustomResourceDefinitions.kind) return []
  const [before, after] = [versionsOf(live), versionsOf(wanted)]
  return [
    {
      name: wanted.metadata.name,
      versionsAdded: missingIn(before, after),
      versionsRemoved: missingIn(after, before),
      ...storage(before, after),
      schemas: after.flatMap((version) => schemaOf(version, before)),
    },
  ]
}

const missingIn = (some: readonly Version[], others: readonly Version[]): string[] =>
  others.map(({ name }) => name).filter((name) => !some.some((version) => version.name === name))

const versionsOf = (object: KubeObject | undefined): readonly Version[] =>
  object === undefined ? [] : ((object as CustomResourceDefinition).spec?.versions ?? [])

function storage(before: readonly Version[], after: readonly Version[]): Partial<CrdDiff> {
  const stored = (versions: readonly Version[]) => versions.find((version) => version.storage)?.name
  const [from, to] = [stored(before), stored(after)]
  return from === undefined || to === undefined || from === to ? {} : { storageFrom: from, storageTo: to }
}

function schemaOf({ name, schema }: Version, before: readonly Version[]): CrdDiff['schemas'][number][] {
  const was = before.find((version) => version.name === name)?.schema
  const { from, to } = (was === undefined ? undefined : schemaChange(was, schema)) ?? {}
  return from === undefined || to === undefined ? [] : [{ version: name, from, to }]
}

interface RoleDiff {
  kind: string
  role: string
  namespace?: string
  gained: readonly string[]
  lost: readonly string[]
  /** Held in every namespace by this ClusterRole until now; afterwards a Role of the operator holds it in its own namespace. Not among the lost. */
  narrowed?: readonly string[]
  /**
   * Of the lost: what the pods of virt-operator that run now may no longer do as soon as the role is applied, before they are
   * replaced (night C3). A right that another of its roles holds is not among them.
   */
  lostWhileRunning: readonly string[]
}

/** The roles that the running operator has, and what it may do once the manifest is applied: everywhere, and in its own namespace. */
interface OperatorRights {
  roles: ReadonlySet<string>
  everywhere: ReadonlySet<string>
  here: ReadonlySet<string>
}

/** Empty for objects that are no roles, and for roles whose rights stay. */
function roleDiff({ wanted, rights }: ObjectChange, operator: OperatorRights): RoleDiff[] {
  if (rights === undefined) return []
  const { kind, metadata } = wanted
  const { name: role, namespace } = metadata
  const still = namespace === undefined ? operator.everywhere : operator.here
  const isOperators = operator.roles.has(nameOf(wanted))
  const missed = isOperators ? rights.lost.filter((right) => !holds(still, right)) : []
  const narrowed = missed.filter((right) => holds(operator.here, right))
  return [
    {
      kind,
      role,
      ...(namespace !== undefined && { namespace }),
      gained: rights.gained,
      lost: rights.lost.filter((right) => !narrowed.includes(right)),
      ...(narrowed.length > 0 && { narrowed }),
      lostWhileRunning: missed.filter((right) => !narrowed.includes(right)),
    },
  ]
}

/** By the bindings of the account that its pods run under now, whether the manifest still has them or not. */
function operatorRights(changes: readonly ObjectChange[], left: readonly KubeObject[]): OperatorRights {
  const account = accountOf(changes)
  const bindings = [...changes.map(({ live, wanted }) => live ?? wanted), ...left].filter(isBinding)
  const roles = new Set(bindings.filter((binding) => binds(binding, account)).map(boundRole))
  const after = [...changes.map(({ wanted }) => wanted), ...left].filter((one) => roles.has(nameOf(one)))
  const everywhere = rightsOf(after.filter(({ metadata }) => metadata.namespace === undefined))
  return { roles, everywhere, here: rightsOf(after) }
}

const rightsOf = (roles: readonly KubeObject[]): Set<string> =>
  new Set(roles.flatMap((role) => [...rightsIn(role as Role)]))

interface Account {
  name: string
  namespace: string | undefined
}

function accountOf(changes: readonly ObjectChange[]): Account | undefined {
  const change = changes.find(({ wanted }) => wanted.kind === Deployments.kind)
  if (change === undefined) return undefined
  const { metadata, spec } = (change.live ?? change.wanted) as Deployment
  const name = spec?.template?.spec?.serviceAccountName ?? 'default'
  return { name, namespace: metadata.namespace }
}

const binds = ({ subjects = [] }: RoleBinding, account: Account | undefined): boolean =>
  subjects.some(
    ({ kind, name, namespace }) =>
      kind === 'ServiceAccount' && name === account?.name && namespace === account.namespace,
  )

const boundRole = ({ roleRef }: RoleBinding): string => `${roleRef?.kind ?? ''} ${roleRef?.name ?? ''}`

/** A role as a person would write it: above every rule what it is for, its lists in one line. */
export function roleYaml(role: Role, reasons: readonly string[]): string {
  const document = new Document(role)
  const rules = document.get('rules')
  if (isSeq(rules)) rules.items.forEach((rule, index) => annotate(rule, reasons[index] ?? ''))
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function annotate(rule: unknown, reason: string): void {
  if (!isMap(rule)) return
  rule.commentBefore = ` ${reason}`
  for (const { value } of rule.items) if (isCollection(value)) value.flow = true
}
