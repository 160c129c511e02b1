import type * as kube from '../../kinds.ts'
import type { KubeObject } from '../../../lib/kube/object.ts'
import { at, copy, isJson, same } from '../json.ts'
import type { FieldError } from '../api-refusal.ts'
import { kubeVirtVersioning } from './kubevirt-schema.ts'
import { agePath, type Columns, pathColumns } from './printer-columns.ts'
import { builtIn, custom, type SimKind } from './sim-kind.ts'
import table from './kinds.json' with { type: 'json' }

/** A row of kinds.json. */
interface KindRow extends Partial<
  Pick<
    SimKind,
    'shortNames' | 'categories' | 'verbs' | 'status' | 'generation' | 'subresources' | 'selectable'
  >
> {
  /** `apps/v1 Deployment deployments`, with `cluster` behind it where it is in no namespace. */
  readonly kind: string
  /** A kind that KubeVirt's CustomResourceDefinitions bring. */
  readonly of?: 'kubevirt'
  /** What is shown behind the name; default the age. */
  readonly columns?: Columns
  /** What `-o wide` shows besides. */
  readonly wide?: Columns
  /** `kubectl get` shows no name. */
  readonly nameless?: true
  /** What the server fills in where it is not said, by where it stands: only in what is there. */
  readonly defaults?: Readonly<Record<string, unknown>>
}

function kindOf({ kind: names, of, columns = agePath, wide, nameless, defaults, ...more }: KindRow): SimKind {
  const [apiVersion = '', kind = '', plural = '', scope] = names.split(' ')
  const all = pathColumns(columns, wide)
  return (of ? custom : builtIn)(
    { apiVersion, kind, plural, namespaced: scope !== 'cluster' },
    {
      ...more,
      ...(of && { versions: ['v1', 'v1alpha3'] }),
      columns: nameless ? all.slice(1) : all,
      ...(defaults && { defaults: (object: KubeObject) => fill(object, defaults) }),
      ...special[kind],
    },
  )
}

function fill(object: KubeObject, defaults: Readonly<Record<string, unknown>>): void {
  for (const [path, value] of Object.entries(defaults)) {
    const steps = path.split('.')
    const holder = at(object, ...steps.slice(0, -1))
    const name = steps.at(-1) ?? ''
    if (isJson(holder) && isEmpty(holder[name])) holder[name] = copy(value)
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (isJson(value) && Object.keys(value).length === 0)

const wrong = (field: string, reason: FieldError['reason'], message: string): FieldError[] => [
  { field, reason, message },
]

function immutableErrors(now: kube.ConfigMap, before: kube.ConfigMap | undefined): FieldError[] {
  if (before?.immutable !== true) return []
  if (same(now.data, before.data) && same(now.binaryData, before.binaryData)) return []
  return wrong('data', 'FieldValueForbidden', 'Forbidden: field is immutable when `immutable` is set')
}

function selectorErrors(now: KubeObject, before: KubeObject | undefined): FieldError[] {
  const selector = at(now, 'spec', 'selector')
  if (!before || same(selector, at(before, 'spec', 'selector'))) return []
  return wrong(
    'spec.selector',
    'FieldValueInvalid',
    `Invalid value: ${JSON.stringify(selector)}: field is immutable`,
  )
}

/** A version that becomes the stored one is kept in mind beside those that were it before, in the same write. */
function rememberStored(definition: kube.CustomResourceDefinition): void {
  const stored = definition.spec?.versions?.find(({ storage }) => storage)?.name
  const known = definition.status?.storedVersions ?? []
  if (stored === undefined || known.includes(stored)) return
  definition.status = { ...definition.status, storedVersions: [...known, stored] }
}

/** A version that is stored cannot be dropped. */
function storedErrors({ spec, status }: kube.CustomResourceDefinition): FieldError[] {
  return (status?.storedVersions ?? []).flatMap((name, index) => {
    if (spec?.versions?.some((version) => version.name === name)) return []
    const message = `Invalid value: "${name}": missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    return wrong(`status.storedVersions[${index}]`, 'FieldValueInvalid', message)
  })
}

/** What a kind has that no row says. */
const special: Readonly<Record<string, Partial<Pick<SimKind, 'defaults' | 'validate' | 'versioningBy'>>>> = {
  Namespace: {
    defaults: (namespace: kube.Namespace) => {
      namespace.status ??= { phase: 'Active' }
      const { labels, name } = namespace.metadata
      namespace.metadata.labels = { ...labels, 'kubernetes.io/metadata.name': name }
    },
  },
  ConfigMap: { validate: immutableErrors },
  Deployment: { validate: selectorErrors },
  ReplicaSet: { validate: selectorErrors },
  DaemonSet: {
    validate: selectorErrors,
    defaults: ({ spec }: kube.DaemonSet) => {
      if (!spec) return
      spec.updateStrategy ??= { type: 'RollingUpdate' }
      if (spec.updateStrategy.type === 'RollingUpdate')
        spec.updateStrategy.rollingUpdate ??= { maxUnavailable: 1 }
    },
  },
  CustomResourceDefinition: { defaults: rememberStored, validate: storedErrors },
  KubeVirt: { versioningBy: kubeVirtVersioning },
}

const rows = table as readonly KindRow[]

/** A cluster before KubeVirt: its kinds come with their CustomResourceDefinitions. */
export const plainKinds: readonly SimKind[] = rows.filter(({ of }) => of === undefined).map(kindOf)

/** With the kinds of KubeVirt that matter here, as if its CustomResourceDefinitions were there. */
export const builtInKinds: readonly SimKind[] = rows.map(kindOf)
