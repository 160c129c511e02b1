import type { Reader } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import { type ConfigMap, ConfigMaps, type Node } from '../../cluster/kinds/core.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  type ClusterVersion,
  ClusterVersions,
  type Infrastructure,
  Infrastructures,
  type MachineConfigPool,
  MachineConfigPools,
  type MachineHealthCheck,
  MachineHealthChecks,
  type NodeHealthCheck,
  NodeHealthChecks,
} from '../../cluster/kinds/openshift.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { type Known, known, notAsked } from '../known.ts'
import { listServed } from '../list-served.ts'
import { platformNodes } from './platform-nodes.ts'

/** What was seen of an OKD or OpenShift cluster. A kind that is not served is known, and there are none of it. */
export interface PlatformSnapshot {
  /** One, or none where this is no such cluster. */
  clusterVersion: Known<ClusterVersion>
  clusterOperators: Known<ClusterOperator>
  pools: Known<MachineConfigPool>
  /** Labels, kubelet version, readiness and the annotations of the machine config daemon only. */
  nodes: Known<Node>
  /** ConfigMap openshift-config-managed/admin-gates: one or none (ocp 3.3). */
  adminGates: Known<ConfigMap>
  /** ConfigMap openshift-config/admin-acks: one or none. */
  adminAcks: Known<ConfigMap>
  /** One or none. */
  infrastructure: Known<Infrastructure>
  machineHealthChecks: Known<MachineHealthCheck>
  nodeHealthChecks: Known<NodeHealthCheck>
}

export type PlatformPart = keyof PlatformSnapshot

const readers: { readonly [P in PlatformPart]: (reader: Reader) => Promise<PlatformSnapshot[P]> } = {
  clusterVersion: async (reader) => one(await listed(reader, ClusterVersions), 'version'),
  clusterOperators: async (reader) => listed(reader, ClusterOperators),
  pools: async (reader) => listed(reader, MachineConfigPools),
  nodes: async (reader) => known(platformNodes(reader)),
  adminGates: async (reader) => configMap(reader, 'admin-gates', 'openshift-config-managed'),
  adminAcks: async (reader) => configMap(reader, 'admin-acks', 'openshift-config'),
  infrastructure: async (reader) => one(await listed(reader, Infrastructures), 'cluster'),
  machineHealthChecks: async (reader) => listed(reader, MachineHealthChecks),
  nodeHealthChecks: async (reader) => listed(reader, NodeHealthChecks),
}

/** Of which nothing was asked for. */
export const unreadPlatform: PlatformSnapshot = {
  clusterVersion: notAsked,
  clusterOperators: notAsked,
  pools: notAsked,
  nodes: notAsked,
  adminGates: notAsked,
  adminAcks: notAsked,
  infrastructure: notAsked,
  machineHealthChecks: notAsked,
  nodeHealthChecks: notAsked,
}

/**
 * Reads the wanted parts, all without `parts`, in one round trip. A part that may not be read or was not saved is unknown; any
 * other ApiError is thrown.
 */
export async function takePlatform(
  reader: Reader,
  { parts = Object.keys(readers) as PlatformPart[] }: { parts?: readonly PlatformPart[] } = {},
): Promise<PlatformSnapshot> {
  const taken = await Promise.all(parts.map(async (part) => [part, await readers[part](reader)] as const))
  return { ...unreadPlatform, ...Object.fromEntries(taken) }
}

function one<T extends KubeObject>(part: Known<T>, name: string): Known<T> {
  return part.known
    ? { known: true, items: part.items.filter(({ metadata }) => metadata.name === name) }
    : part
}

async function listed<T extends KubeObject>(reader: Reader, kind: Kind<T>): Promise<Known<T>> {
  return known(listServed(reader, kind))
}

async function configMap(reader: Reader, name: string, namespace: string): Promise<Known<ConfigMap>> {
  const found = reader.find(ConfigMaps, { name, namespace })
  return known(found.then((answer) => (answer.is === 'object' ? [answer.object] : [])))
}
