import type {
  ClusterOperator,
  ClusterVersion,
  MachineConfigPool,
  NodeMaintenance,
} from '../kube/kinds/openshift-kinds.ts'
import type { NetworkAttachmentDefinition } from '../kube/kinds/extension-kinds.ts'
import { itemsOf, type Known } from '../kube/known.ts'
import { isRecord, parseJson, keyOf } from '../kube/object.ts'
import { shellWord } from '../kube/shell-line.ts'
import { counted, someOf } from '../kube/text.ts'
import { type HopFinding, warning } from '../releases/hop-findings.ts'
import { compareMinors } from '../releases/release-versions.ts'
import { allWords, askAlerts, type FiringAlert, isGrave } from './firing-alerts.ts'
import { assessPool, type PoolStatus } from './machine-config-pools.ts'
import { assessClusterOperators, type PlatformStatus } from './platform-status.ts'

/**
 * What is known of the platform under KubeVirt. The rules below judge it for `kvup check`, `kvup status` and, in front of hops of the platform, for `kvup eus`. Each is pure, and returns nothing where
 * nothing is wrong; whether the data of a rule are there at all is for whoever asks.
 */
export interface PlatformParts {
  clusterVersion: Known<ClusterVersion>
  clusterOperators: Known<ClusterOperator>
  pools: Known<MachineConfigPool>
  /** Of the group that ended with 4.10 (ocp 6.12). */
  oldMaintenances: Known<NodeMaintenance>
  /** Of the standalone operator, which comes after it. */
  maintenances: Known<NodeMaintenance>
  /** Networks of type cnv-bridge only. */
  bridgeNetworks: Known<NetworkAttachmentDefinition>
  alerts: Known<FiringAlert>
}

/** The release of the control plane: the one that it is being updated to, where it is. */
export const releaseOf = ({ state, version, target }: PlatformStatus): string | undefined =>
  state === 'idle' ? version : (target ?? version)

/** Slow is no failure; an update that is under way is the hop. */
export function unsteady({
  failing,
  state,
  message,
  current,
  progressing,
  armed,
  target,
}: PlatformStatus): readonly HopFinding[] {
  // After a change of the channel alone the generation stays behind, and nothing is under way.
  const isIdle = state === 'idle' && !progressing && armed === undefined
  if (failing !== 'True' && state !== 'partial' && (current || isIdle)) return []
  const what =
    failing === 'True'
      ? `it is failing: ${message || 'no reason given'}`
      : state === 'partial'
        ? `the update to ${target ?? 'another release'} stopped halfway: ${message}`
        : 'its status does not yet show the last request'
  return warning({
    id: 'platform-not-steady',
    summary: `the ClusterVersion is not stable: ${what}`,
    objects: ['clusterversion/version'],
    remedy: ['oc adm upgrade'],
  })
}

/** It starts by itself as soon as nothing speaks against it any more (night E6). */
export function armedUpdate({ armed, accepted }: PlatformStatus): readonly HopFinding[] {
  if (armed === undefined) return []
  const { version, image } = armed
  const why = accepted.is === 'no' ? `: ${accepted.message}` : ''
  return warning({
    id: 'update-armed',
    summary: `an update to ${version ?? image ?? 'another release'} is requested but not running${why}. It starts by itself when this ends`,
    objects: ['clusterversion/version'],
    remedy: ['oc adm upgrade --clear'],
  })
}

/** Why the platform does not go to its next minor, in its own words, with what helps for the causes that are known. */
export function notUpgradeable(
  cv: ClusterVersion,
  { upgradeable }: Pick<PlatformStatus, 'upgradeable'>,
): readonly HopFinding[] {
  const overridden = overriddenObjects(cv)
  if (upgradeable.is !== 'no' && overridden.length === 0) return []
  const said =
    upgradeable.is === 'no'
      ? `the ClusterVersion forbids the next minor (${upgradeable.reason}): ${upgradeable.message.replace(/\.$/u, '')}`
      : 'the ClusterVersion has overrides, which forbid the next minor'
  const which = overridden.length === 0 ? '' : `. Its overrides exclude ${someOf(overridden)}`
  const message = upgradeable.is === 'no' ? upgradeable.message : ''
  return warning({
    id: 'platform-not-upgradeable',
    summary: `${said}${which}`,
    objects: ['clusterversion/version', ...overridden],
    remedy: [
      ...(overridden.length > 0 ? [takeOutOverrides] : []),
      ...incompatibleOperators(message).map(updateOperator),
      'oc adm upgrade',
    ],
  })
}

const takeOutOverrides =
  'oc patch clusterversion version --type=json -p \'[{"op":"remove","path":"/spec/overrides"}]\'     removes all of them: the platform then resets these objects'

/** What the cluster version operator is told to leave alone: `Deployment openshift-x/y`. */
function overriddenObjects({ spec }: ClusterVersion): readonly string[] {
  return (spec?.overrides ?? []).filter(isRecord).flatMap(({ unmanaged, kind, namespace, name }) => {
    if (unmanaged !== true || typeof kind !== 'string' || typeof name !== 'string') return []
    return [`${kind} ${typeof namespace === 'string' && namespace !== '' ? `${namespace}/` : ''}${name}`]
  })
}

interface IncompatibleOperator {
  namespace: string
  csv: string
}

const maximum =
  /maximum supported OCP version for (?<namespace>[a-z0-9][a-z0-9-]{0,62})\/(?<csv>[a-z0-9][a-z0-9.-]{0,252}) is /gu

/** Operators whose CSV has an `olm.maxOpenShiftVersion`, as OLM lists them in its Upgradeable message. */
const incompatibleOperators = (message: string): readonly IncompatibleOperator[] =>
  [...message.matchAll(maximum)].map(({ groups }) => ({
    namespace: groups?.['namespace'] ?? '',
    csv: groups?.['csv'] ?? '',
  }))

const updateOperator = ({ namespace, csv }: IncompatibleOperator): string =>
  `oc -n ${namespace} get subscriptions.operators.coreos.com,installplans     update ${csv} to a release for the next minor, or remove it`

/** One that is degraded is not waited for here: its update would not end. */
export function troubledOperators({
  clusterOperators,
}: Pick<PlatformParts, 'clusterOperators'>): readonly HopFinding[] {
  const bad = assessClusterOperators(itemsOf(clusterOperators)).filter(
    ({ available, degraded }) => !available || degraded !== undefined,
  )
  if (bad.length === 0) return []
  return warning({
    id: 'cluster-operators-degraded',
    summary: `${someOf(bad.map(({ name }) => name))} ${bad.length === 1 ? 'is' : 'are'} degraded or not available: ${bad[0]?.degraded?.message ?? 'not available'}`,
    objects: bad.map(({ name }) => `clusteroperator/${name}`),
    remedy: ['oc get clusteroperators'],
  })
}

/** Pools that are degraded, and a pool of the control plane that is paused. */
export const poolTroubles = (pools: readonly PoolStatus[]): readonly HopFinding[] => [
  ...pools.filter(({ state }) => state === 'degraded').map(degradedPool),
  ...pools.filter(({ isMaster, paused }) => isMaster && paused).map(masterPaused),
]

export const assessedPools = ({ pools }: Pick<PlatformParts, 'pools'>): readonly PoolStatus[] =>
  itemsOf(pools).map(assessPool)

const degradedPool = ({ name, message }: PoolStatus): HopFinding => ({
  id: 'pool-degraded',
  level: 'warning',
  summary: `pool ${name} is degraded: ${message || 'no reason given'}`,
  objects: [`machineconfigpool/${name}`],
  remedy: [`oc describe machineconfigpool ${shellWord(name)}`],
})

const masterPaused = ({ name }: PoolStatus): HopFinding => ({
  id: 'master-paused',
  level: 'warning',
  summary: `pool ${name} is paused: the platform cannot update while it is paused`,
  objects: [`machineconfigpool/${name}`],
  standsAt: `pool ${name}`,
  remedy: [unpausePool(name)],
})

export const unpausePool = (name: string): string =>
  `oc patch machineconfigpool ${shellWord(name)} --type=merge -p '{"spec":{"paused":false}}'     its nodes drain and reboot then`

/** The operator that these objects were for does not come along to 4.11 (night E9). */
export function oldMaintenance(
  parts: Pick<PlatformParts, 'oldMaintenances' | 'maintenances'>,
): readonly HopFinding[] {
  const old = itemsOf(parts.oldMaintenances)
  const carried = new Set(itemsOf(parts.maintenances).map(({ spec }) => spec?.nodeName))
  const missing = old.filter(({ spec }) => !carried.has(spec?.nodeName))
  if (old.length === 0) return []
  return warning({
    id: 'node-maintenance-old',
    summary: `${old.length === 1 ? 'a node is' : `${old.length} nodes are`} in maintenance (${someOf(old.map(({ spec }) => spec?.nodeName ?? ''))}) by an operator that 4.11 no longer has. End it, or move it to the standalone operator, in this order`,
    objects: old.map(({ metadata }) => `nodemaintenance/${metadata.name}`),
    remedy: [
      ...(missing.length > 0 ? ['install the Node Maintenance Operator from the OperatorHub'] : []),
      ...missing.map((one) => `echo ${shellWord(asStandalone(one))} | oc apply -f -`),
      `delete the old NodeMaintenance ${someOf(old.map(({ metadata }) => metadata.name))} (nodemaintenance.kubevirt.io): that ends the maintenance, its node takes VMs again`,
    ],
  })
}

function asStandalone({ metadata, spec = {} }: NodeMaintenance): string {
  return JSON.stringify({
    apiVersion: 'nodemaintenance.medik8s.io/v1beta1',
    kind: 'NodeMaintenance',
    metadata: { name: metadata.name },
    spec: { nodeName: spec.nodeName, ...(spec.reason !== undefined && { reason: spec.reason }) },
  })
}

/** A network plugin that virtualization brings until 4.12. */
const oldBridge = 'cnv-bridge'

/** Whether a pod on this network needs the plugin cnv-bridge, alone or in a chain of plugins. */
export function isOldBridge({ spec }: NetworkAttachmentDefinition): boolean {
  const config = parseJson(spec?.config ?? '')
  if (!isRecord(config)) return false
  const chain = Array.isArray(config['plugins']) ? config['plugins'] : []
  return [config, ...chain].some((one) => isRecord(one) && one['type'] === oldBridge)
}

/** Running VMs by the network they are on, `namespace/name`. */
export type VmsByNetwork = ReadonlyMap<string, { count: number; names: readonly string[] }>

/**
 * Networks of the type cnv-bridge, which releases after 4.12 lack: a VM on one runs on where it is, and is not migrated, for the pod of the target gets no network (virtualization 4.20 release
 * notes, CNV-38746). `here` is the platform's minor.
 */
export function bridgeNetworks(
  { bridgeNetworks: networks }: Pick<PlatformParts, 'bridgeNetworks'>,
  { here, vms }: { here: string; vms: VmsByNetwork },
): readonly HopFinding[] {
  const names = itemsOf(networks).map(keyOf)
  const used = names.filter((name) => vms.has(name))
  if (used.length === 0) return []
  const count = used.reduce((sum, name) => sum + (vms.get(name)?.count ?? 0), 0)
  const who = used.flatMap((name) => vms.get(name)?.names ?? [])
  const isOver = compareMinors(here, '4.12') > 0
  return warning({
    id: 'bridge-networks',
    summary: `${counted(count, 'running VM', ['is', 'are'])} on ${used.length === 1 ? 'a network' : 'networks'} of type ${oldBridge} (${someOf(used)}: ${someOf(who)}), ${
      isOver
        ? `which platforms after 4.12 lack: ${count === 1 ? 'it' : 'they'} cannot be migrated`
        : `which the platform lacks from 4.13 on: ${count === 1 ? 'it' : 'they'} could not be migrated there`
    }. The type has to be bridge`,
    objects: [...used.map((name) => `networkattachmentdefinition/${name}`), ...who],
    remedy: used.map((name) => editNetwork(name)),
  })
}

function editNetwork(full: string): string {
  const [namespace = '', name = ''] = full.split('/')
  return `oc -n ${shellWord(namespace)} edit network-attachment-definitions.k8s.cni.cncf.io ${shellWord(name)}     "type": "bridge" in spec.config instead of "${oldBridge}"`
}

/** What fires already and does not go well with a drain. Platform and operator say themselves what they refuse. */
export function graveAlerts({ alerts }: Pick<PlatformParts, 'alerts'>): readonly HopFinding[] {
  const grave = allWords(itemsOf(alerts).filter(isGrave))
  if (grave.length === 0) return []
  return warning({
    id: 'alerts-firing',
    summary: `${grave.length === 1 ? 'a critical alert is firing' : `${grave.length} critical alerts are firing`}: ${someOf(grave)}`,
    objects: grave,
    remedy: [askAlerts],
  })
}
