import type { Reader, Where } from '../cluster/cluster.ts'
import type { Kind } from '../cluster/kind.ts'
import { Deployments } from '../cluster/kinds/apps.ts'
import {
  type MachineConfigPool,
  MachineConfigPools,
  MachineHealthChecks,
  NodeHealthChecks,
} from '../cluster/kinds/openshift.ts'
import { ClusterApiMachineHealthChecks, CronJobs, KubeDeschedulers } from '../cluster/kinds/upkeep.ts'
import { condition, type KubeObject } from '../cluster/object.ts'
import { isNotFound } from '../system/errors.ts'

export interface Other {
  kind: string
  name: string
  /** `evicts by itself`, `not paused`, `updating`, `paused`: what it is about to do, or not. */
  what: string
}

/**
 * Who else moves VMs, or stops or reboots nodes: deschedulers that evict, health checks that are not paused, pools that update
 * or are paused (night C4). A kind that is not served is none. Throws ApiError.
 */
export async function othersAtWork(reader: Reader): Promise<Other[]> {
  const found = await Promise.all([
    those(reader, KubeDeschedulers, ({ spec }) =>
      spec?.mode === 'Automatic' && spec.managementState !== 'Unmanaged' ? evicts : undefined,
    ),
    descheduler(reader, Deployments, ({ spec }) => spec?.replicas !== 0),
    descheduler(reader, CronJobs, ({ spec }) => spec?.suspend !== true),
    those(reader, MachineHealthChecks, unlessPaused),
    those(reader, ClusterApiMachineHealthChecks, unlessPaused),
    those(reader, NodeHealthChecks, ({ spec }) =>
      (spec?.pauseRequests ?? []).length > 0 ? undefined : 'not paused',
    ),
    those(reader, MachineConfigPools, poolAt),
  ])
  return found.flat()
}

const evicts = 'evicts by itself'

async function those<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  whatOf: (object: T) => string | undefined,
  where?: Where,
): Promise<Other[]> {
  const others: Other[] = []
  try {
    for await (const { items } of reader.pages(kind, where))
      others.push(...items.flatMap((object) => otherOf(object, whatOf(object))))
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return others
}

function otherOf(object: KubeObject, what: string | undefined): Other[] {
  return what === undefined ? [] : [{ kind: object.kind, name: nameOf(object), what }]
}

/** As its manifests and its chart call it: who may list only this name may ask so. */
function descheduler<T extends KubeObject>(
  reader: Reader,
  kind: Kind<T>,
  isOn: (object: T) => boolean,
): Promise<Other[]> {
  return those(reader, kind, (object) => (isOn(object) ? evicts : undefined), { name: 'descheduler' })
}

function unlessPaused({ metadata }: KubeObject): string | undefined {
  return Object.hasOwn(metadata.annotations ?? {}, 'cluster.x-k8s.io/paused') ? undefined : 'not paused'
}

function poolAt(pool: MachineConfigPool): string | undefined {
  if (condition(pool, 'Updating')?.status === 'True') return 'updating'
  return pool.spec?.paused === true ? 'paused' : undefined
}

function nameOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}
