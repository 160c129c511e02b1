import type { Reader } from '../../cluster/cluster.ts'
import {
  ClusterRoles,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../../cluster/kinds/extension.ts'
import type { InstallPlan, InstallStep } from '../../cluster/kinds/operator-lifecycle.ts'
import { whyUnknown } from '../../facts/known.ts'

/**
 * What approving installs, in a sentence (night E4): the CSVs, the versions that CRDs gain or lose, the cluster roles that are new. A step may
 * only refer to a ConfigMap that has its object (ocp 2.2): then its versions are said to be there.
 */
export async function planContents(reader: Reader, { spec, status }: InstallPlan): Promise<string> {
  const steps = status?.plan ?? []
  const crds = stepsOf(steps, 'CustomResourceDefinition')
  const roles = stepsOf(steps, 'ClusterRole')
  const [changes, fresh] = await Promise.all([
    Promise.all(crds.map((step) => crdChange(reader, step))),
    Promise.all(roles.map((step) => isNew(reader, step))),
  ])
  const newRoles = roles.filter((_, index) => fresh[index]).map((step) => step.resource?.name ?? '')
  return [
    `installs ${(spec?.clusterServiceVersionNames ?? []).join(', ')}`,
    ...changes.filter((change) => change !== undefined),
    ...(newRoles.length > 0 ? [`new cluster roles ${newRoles.join(', ')}`] : []),
  ].join('; ')
}

function stepsOf(steps: readonly InstallStep[], kind: string): readonly InstallStep[] {
  return steps.filter(({ resource }) => resource?.kind === kind)
}

async function crdChange(reader: Reader, { resource = {} }: InstallStep): Promise<string | undefined> {
  const { name = '', manifest = '' } = resource
  const wanted = definitionIn(manifest)
  if (wanted === undefined) return `CRD ${name} as a ConfigMap has it`
  const now = await versionsNow(reader, name)
  if (now === 'unread') return `CRD ${name} with ${versionsOf(wanted).join(', ')}`
  const next = versionsOf(wanted)
  const added = next.filter((version) => !now.includes(version))
  const dropped = now.filter((version) => !next.includes(version))
  if (now.length === 0) return `new CRD ${name}`
  if (added.length + dropped.length === 0) return undefined
  const says = [...added.map((version) => `+${version}`), ...dropped.map((version) => `-${version}`)]
  return `CRD ${name} ${says.join(' ')}`
}

function definitionIn(manifest: string): CustomResourceDefinition | undefined {
  try {
    const value = JSON.parse(manifest) as CustomResourceDefinition | null
    return value?.kind === 'CustomResourceDefinition' ? value : undefined
  } catch {
    return undefined
  }
}

const versionsOf = ({ spec }: CustomResourceDefinition): readonly string[] =>
  (spec?.versions ?? []).filter(({ served }) => served !== false).map(({ name }) => name)

async function versionsNow(reader: Reader, name: string): Promise<readonly string[] | 'unread'> {
  try {
    const found = await reader.find(CustomResourceDefinitions, { name })
    return found.is === 'object' ? versionsOf(found.object) : []
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return 'unread'
  }
}

/** Roles that may not be read are not called new. */
async function isNew(reader: Reader, { resource = {} }: InstallStep): Promise<boolean> {
  try {
    return (await reader.find(ClusterRoles, { name: resource.name ?? '' })).is === 'absent'
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return false
  }
}
