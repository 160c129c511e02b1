import { type Deployment, Deployments } from '../../cluster/kinds/apps.ts'
import { CustomResourceDefinitions, ServiceAccounts } from '../../cluster/kinds/extension.ts'
import {
  type ClusterServiceVersion,
  type OperatorCondition,
  OperatorConditions,
  OperatorGroups,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { condition } from '../../cluster/object.ts'
import type { CarriedDeployment } from './bundle-deployments.ts'
import type { OlmContext } from './olm-context.ts'

type Requirement = NonNullable<NonNullable<ClusterServiceVersion['status']>['requirementStatus']>[number]

/** What decides about the next phase of a CSV. */
export interface CsvLook {
  /** The CSVs of its namespace. */
  all: readonly ClusterServiceVersion[]
  operatorGroups: number
  /** The OperatorCondition of the CSV that it replaces. */
  replacedCondition: OperatorCondition | undefined
  requirements: readonly Requirement[]
  /** What its Deployments lack, in OLM's words; undefined where all are there and available. */
  unhealthy: string | undefined
}

export async function lookAtCsv(
  { reader }: OlmContext,
  csv: ClusterServiceVersion,
  all: readonly ClusterServiceVersion[],
): Promise<CsvLook> {
  const { namespace } = csv.metadata
  const { replaces } = csv.spec ?? {}
  const replaced =
    replaces === undefined ? undefined : await reader.find(OperatorConditions, { name: replaces, namespace })
  return {
    all: all.filter(({ metadata }) => metadata.namespace === namespace),
    operatorGroups: (await reader.list(OperatorGroups, { namespace })).length,
    replacedCondition: replaced?.is === 'object' ? replaced.object : undefined,
    requirements: await requirementsOf(reader, csv),
    unhealthy: await unhealthyPart(reader, csv),
  }
}

async function requirementsOf(
  reader: OlmContext['reader'],
  csv: ClusterServiceVersion,
): Promise<Requirement[]> {
  const requirements: Requirement[] = []
  for (const { name = '' } of csv.spec?.customresourcedefinitions?.owned ?? []) {
    const found = await reader.find(CustomResourceDefinitions, { name })
    const { kind } = CustomResourceDefinitions
    const of = { group: 'apiextensions.k8s.io', version: 'v1', kind, name }
    requirements.push({ ...of, ...presence(found.is === 'object') })
  }
  const accounts = carriedBy(csv).flatMap(({ spec }) => spec.template?.spec?.serviceAccountName ?? [])
  for (const name of new Set(accounts)) {
    const found = await reader.find(ServiceAccounts, { name, namespace: csv.metadata.namespace })
    const of = { group: '', version: 'v1', kind: ServiceAccounts.kind, name }
    requirements.push({ ...of, ...presence(found.is === 'object') })
  }
  return requirements
}

const presence = (isThere: boolean): Requirement => ({
  status: isThere ? 'Present' : 'NotPresent',
  message: isThere ? 'it is present' : 'it is not present',
})

export function carriedBy({ spec }: ClusterServiceVersion): readonly CarriedDeployment[] {
  return (spec?.install?.spec?.deployments ?? []) as unknown as readonly CarriedDeployment[]
}

async function unhealthyPart(
  reader: OlmContext['reader'],
  csv: ClusterServiceVersion,
): Promise<string | undefined> {
  for (const { name } of carriedBy(csv)) {
    const found = await reader.find(Deployments, { name, namespace: csv.metadata.namespace })
    const lacks = found.is === 'object' ? lackOf(found.object, csv.metadata.name) : 'deployment not found'
    if (lacks !== undefined) return `installing: waiting for deployment ${name} to become ready: ${lacks}`
  }
  return undefined
}

function lackOf(deployment: Deployment, owner: string): string | undefined {
  const { metadata, status } = deployment
  const name = JSON.stringify(metadata.name)
  if (metadata.labels?.['olm.owner'] !== owner) return `deployment ${name} is another operator's`
  if (status?.observedGeneration !== metadata.generation) return 'waiting for spec update to be observed'
  const rolling = rollOf(deployment)
  if (rolling !== undefined || condition(deployment, 'Available')?.status === 'True') return rolling
  return `deployment ${name} not available: Deployment does not have minimum availability.`
}

function rollOf({ metadata, status, spec }: Deployment): string | undefined {
  const { updatedReplicas: updated = 0, replicas = 0 } = status ?? {}
  const wanted = spec?.replicas ?? 1
  const name = JSON.stringify(metadata.name)
  if (updated >= wanted && replicas <= updated) return undefined
  if (updated >= wanted)
    return `deployment ${name} waiting for ${replicas - updated} outdated replica(s) to be terminated`
  return `Waiting for rollout to finish: ${updated} out of ${wanted} new replicas have been updated...`
}
