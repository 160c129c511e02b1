import type { Reader } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import { Namespaces } from '../cluster/kinds/core.ts'
import {
  ApiServices,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
} from '../cluster/kinds/extension.ts'
import { type ResourceQuota, ResourceQuotas } from '../cluster/kinds/resource-quotas.ts'
import type { KubeObject } from '../cluster/object.ts'
import { openDataJobs } from './data-jobs.ts'
import type { Evidence, EvidencePart } from './evidence.ts'
import { foldInstances } from './fold-instances.ts'
import { foldMachines } from './fold-machines.ts'
import { known } from './known.ts'
import { othersAtWork } from './others-at-work.ts'

type Parts = Partial<Evidence>

/** The parts of Evidence that do not depend on where KubeVirt is, in parallel. Throws ApiError. */
export async function partsOfCluster(reader: Reader, wants: ReadonlySet<EvidencePart>): Promise<Parts> {
  const part = async <T>(name: EvidencePart, read: () => Promise<readonly T[]>): Promise<Parts> =>
    wants.has(name) ? { [name]: await known(read()) } : {}
  const found = await Promise.all([
    instanceParts(reader, wants),
    part('machines', async () => [await foldMachines(reader)]),
    part('crds', async () => definitions(reader)),
    part('apiServices', async () =>
      kept(reader, ApiServices, ({ spec }) => isKubeVirtGroup(spec?.group), withoutManagers),
    ),
    part('dataJobs', async () => openDataJobs(reader)),
    part('others', async () => othersAtWork(reader)),
    part('clusterUid', async () => clusterUid(reader)),
  ])
  return Object.fromEntries(found.flatMap((one) => Object.entries(one)))
}

/** VMIs are listed once, whoever asks for them. */
async function instanceParts(reader: Reader, wants: ReadonlySet<EvidencePart>): Promise<Parts> {
  const wanted = (['instances', 'workloads', 'quotas'] as const).filter((name) => wants.has(name))
  if (wanted.length === 0) return {}
  const quotas = wants.has('quotas') ? known(trimmedQuotas(reader)) : undefined
  const folded = await known(foldInstances(reader).then((one) => [one]))
  const [one] = folded.known ? folded.items : []
  if (!folded.known || one === undefined) return Object.fromEntries(wanted.map((name) => [name, folded]))
  const { tally, namespaces } = one
  const listed = await quotas
  return {
    instances: { known: true, items: [tally] },
    workloads: { known: true, items: [{ instances: tally.total, outdated: tally.outdated }] },
    ...(listed && {
      quotas: listed.known
        ? {
            known: true,
            items: listed.items.filter(({ metadata }) => namespaces.has(metadata.namespace ?? '')),
          }
        : listed,
    }),
  }
}

async function trimmedQuotas(reader: Reader): Promise<ResourceQuota[]> {
  return kept(
    reader,
    ResourceQuotas,
    () => true,
    ({ apiVersion, kind, metadata: { name, namespace }, status }) => ({
      apiVersion,
      kind,
      metadata: { name, ...(namespace !== undefined && { namespace }) },
      ...(status && { status }),
    }),
  )
}

function definitions(reader: Reader): Promise<CustomResourceDefinition[]> {
  return kept(reader, CustomResourceDefinitions, ({ spec }) => isKubeVirtGroup(spec?.group), withoutSchema)
}

function isKubeVirtGroup(group = ''): boolean {
  return group === 'kubevirt.io' || group.endsWith('.kubevirt.io')
}

/** Page by page: only what is wanted of it stays. */
async function kept<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  wanted: (object: T) => boolean,
  trimmed: (object: T) => T,
): Promise<T[]> {
  const all: T[] = []
  for await (const { items } of reader.pages(kind)) all.push(...items.filter(wanted).map(trimmed))
  return all
}

function withoutMember<T extends object, K extends keyof T>(whole: T, member: K): Omit<T, K> {
  const { [member]: _, ...rest } = whole
  return rest
}

function withoutManagers<T extends KubeObject>(object: T): T {
  return { ...object, metadata: withoutMember(object.metadata, 'managedFields') }
}

/** Most of its size, and nothing is judged by it. */
function withoutSchema(crd: CustomResourceDefinition): CustomResourceDefinition {
  const versions = crd.spec?.versions?.map((version) => withoutMember(version, 'schema'))
  return { ...crd, spec: { ...crd.spec, ...(versions && { versions }) } }
}

async function clusterUid(reader: Reader): Promise<string[]> {
  const found = await reader.find(Namespaces, { name: 'kube-system' })
  const uid = found.is === 'object' ? found.object.metadata.uid : undefined
  return uid === undefined ? [] : [uid]
}
