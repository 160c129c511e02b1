import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import { systemClock } from '../../../../src/lib/kube/clock.ts'
import { readSchema, validate } from '../../docs/json-schema.ts'
import { runText } from '../../run-text.ts'

/**
 * Dumps of platforms in the shape in which `oc get -o yaml` and `oc adm must-gather` write them. The moment of each is the last heartbeat of its nodes.
 */
export const moment = '2026-11-20T12:00:00Z'

/** RFC 3339: so many seconds, `90`, or minutes, `20m`, before the moment of the dump, or before another one. */
export function ago(span: string | number, at = moment): string {
  const { amount = '0', unit = 's' } = /^(?<amount>\d+)(?<unit>[smhd]?)$/u.exec(String(span))?.groups ?? {}
  const ms = { '': 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 1000
  return new Date(Date.parse(at) - Number(amount) * ms).toISOString().replace('.000', '')
}

export interface Says {
  type: string
  status: 'True' | 'False' | 'Unknown'
  since?: string
  reason?: string
  message?: string
}

const saying = ({ type, status, since = ago('30d'), reason = '', message = '' }: Says) => ({
  type,
  status,
  lastTransitionTime: since,
  ...(reason && { reason }),
  ...(message && { message }),
})

/** Said ones in place of those of the same type. */
const conditionsOf = (usual: readonly Says[], said: readonly Says[]) => [
  ...usual.filter(({ type }) => !said.some((one) => one.type === type)).map(saying),
  ...said.map(saying),
]

const image = (version: string, arch = ''): string =>
  `quay.io/openshift-release-dev/ocp-release@sha256:${Buffer.from(`${version}${arch}`).toString('hex').padEnd(64, '0').slice(0, 64)}`

export interface Entry {
  version: string
  state?: 'Completed' | 'Partial'
  started: string
  completed?: string
  arch?: string
}

interface OfVersion {
  history: readonly Entry[]
  says?: readonly Says[]
  spec?: object
  status?: object
  generation?: number
  observed?: number
  architecture?: string
}

/** The newest entry of the history is what is desired. */
export function clusterVersion({
  history,
  says = [],
  spec = {},
  status = {},
  generation = 3,
  observed = generation,
  architecture = '',
}: OfVersion) {
  const [newest] = history
  const { version = '', state = 'Completed', arch } = newest ?? {}
  const isDone = state === 'Completed'
  const usual: Says[] = [
    { type: 'RetrievedUpdates', status: 'True' },
    { type: 'ReleaseAccepted', status: 'True', reason: 'PayloadLoaded' },
    { type: 'Available', status: 'True', message: `Done applying ${version}` },
    { type: 'Failing', status: 'False' },
    isDone
      ? { type: 'Progressing', status: 'False', message: `Cluster version is ${version}` }
      : {
          type: 'Progressing',
          status: 'True',
          since: newest?.started ?? moment,
          message: `Working towards ${version}: 106 of 841 done (12% complete), waiting on kube-apiserver`,
        },
  ]
  return {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: {
      name: 'version',
      uid: '5ac0c6a5-22bd-4c9e-8a0c-5e4f7a1d7f64',
      creationTimestamp: history.at(-1)?.started ?? ago('90d'),
      generation,
      resourceVersion: '917231',
    },
    spec: {
      channel: `stable-${version.split('.').slice(0, 2).join('.')}`,
      clusterID: '2f9f8f2a-9b1e-4a4e-8a5f-0b3d5c7e9f11',
      ...spec,
    },
    status: {
      desired: {
        ...(architecture && { architecture }),
        version,
        image: image(version, arch),
        channels: [`candidate-${version.slice(0, 4)}`, `stable-${version.slice(0, 4)}`],
      },
      history: history.map(({ version: of, state: is = 'Completed', started, completed, arch: on }) => ({
        state: is,
        version: of,
        image: image(of, on),
        startedTime: started,
        completionTime: is === 'Completed' ? (completed ?? ago('60m', started)) : null,
        verified: true,
      })),
      observedGeneration: observed,
      versionHash: 'XPVRuNTjAfE=',
      availableUpdates: null,
      conditions: conditionsOf(usual, says),
      ...status,
    },
  }
}

/** What every installation of 4.12 to 4.20 has. */
export const operatorNames = [
  'authentication',
  'baremetal',
  'cloud-controller-manager',
  'cloud-credential',
  'cluster-autoscaler',
  'config-operator',
  'console',
  'control-plane-machine-set',
  'csi-snapshot-controller',
  'dns',
  'etcd',
  'image-registry',
  'ingress',
  'insights',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-storage-version-migrator',
  'machine-api',
  'machine-approver',
  'machine-config',
  'marketplace',
  'monitoring',
  'network',
  'node-tuning',
  'openshift-apiserver',
  'openshift-controller-manager',
  'openshift-samples',
  'operator-lifecycle-manager',
  'operator-lifecycle-manager-catalog',
  'operator-lifecycle-manager-packageserver',
  'service-ca',
  'storage',
]

interface OfOperators {
  /** Of those that are not named. */
  version: string
  versions?: Readonly<Record<string, string>>
  says?: Readonly<Record<string, readonly Says[]>>
}

export const clusterOperators = ({ version, versions = {}, says = {} }: OfOperators) =>
  operatorNames.map((name) => ({
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterOperator',
    metadata: {
      name,
      uid: `co-${name}`,
      creationTimestamp: ago('90d'),
      generation: 1,
      resourceVersion: '917000',
      annotations: {
        'include.release.openshift.io/self-managed-high-availability': 'true',
        'include.release.openshift.io/single-node-developer': 'true',
      },
    },
    spec: {},
    status: {
      conditions: conditionsOf(
        [
          { type: 'Available', status: 'True', reason: 'AsExpected' },
          { type: 'Progressing', status: 'False', reason: 'AsExpected' },
          { type: 'Degraded', status: 'False', reason: 'AsExpected' },
          { type: 'Upgradeable', status: 'True', reason: 'AsExpected' },
        ],
        says[name] ?? [],
      ),
      versions: [
        { name: 'raw-internal', version: versions[name] ?? version },
        { name: 'operator', version: versions[name] ?? version },
      ],
      extension: null,
      relatedObjects: [{ group: 'operator.openshift.io', name: 'cluster', resource: `${name}s` }],
    },
  }))

interface OfPool {
  machines?: number
  updated?: number
  degraded?: number
  unavailable?: number
  paused?: boolean
  /** Of the rendered configuration that is wanted, and that the nodes have: `a`. */
  wants?: string
  has?: string
  says?: readonly Says[]
}

export const rendered = (of: string, hash: string): string =>
  `rendered-${of}-${hash.padEnd(32, '0').slice(0, 32)}`

export function pool(name: string, of: OfPool = {}) {
  const { machines = 3, degraded = 0, paused = false, wants = 'a', has = wants, says = [] } = of
  const { updated = machines, unavailable = 0 } = of
  const done = wants === has && updated === machines
  const usual: Says[] = [
    { type: 'RenderDegraded', status: 'False' },
    { type: 'NodeDegraded', status: 'False' },
    { type: 'Degraded', status: 'False' },
    {
      type: 'Updated',
      status: done ? 'True' : 'False',
      message: done ? `All nodes are updated with MachineConfig ${rendered(name, wants)}` : '',
    },
    {
      type: 'Updating',
      status: done || paused ? 'False' : 'True',
      message: done
        ? ''
        : paused
          ? `Pool is paused; will not update to ${rendered(name, wants)}`
          : `All nodes are updating to MachineConfig ${rendered(name, wants)}`,
    },
  ]
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfigPool',
    metadata: {
      name,
      uid: `pool-${name}`,
      creationTimestamp: ago('90d'),
      generation: 7,
      resourceVersion: '917100',
      labels: {
        'machineconfiguration.openshift.io/mco-built-in': '',
        ...(name === 'master' && { 'operator.machineconfiguration.openshift.io/required-for-upgrade': '' }),
      },
    },
    spec: {
      configuration: { name: rendered(name, wants), source: [] },
      machineConfigSelector: { matchLabels: { 'machineconfiguration.openshift.io/role': name } },
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
      paused,
    },
    status: {
      conditions: conditionsOf(usual, says),
      configuration: { name: rendered(name, has), source: [] },
      degradedMachineCount: degraded,
      machineCount: machines,
      observedGeneration: 7,
      readyMachineCount: machines - unavailable,
      unavailableMachineCount: unavailable,
      updatedMachineCount: updated,
    },
  }
}

interface OfNode {
  kubelet?: string
  /** Hashes of its configurations. */
  current?: string
  desired?: string
  state?: string
  reason?: string
  /** `drain`, `uncordon`: what the daemon wants of the controller, and what that did last. */
  drain?: string
  lastDrain?: string
  cordoned?: boolean
  ready?: 'True' | 'False' | 'Unknown'
  why?: string
  heartbeat?: string
  revision?: string
}

export function node(name: string, of: string, how: OfNode = {}) {
  const { kubelet = 'v1.27.9', current = 'a', desired = current, state = 'Done', reason = '' } = how
  const { drain = 'uncordon', lastDrain = drain, cordoned = false, ready = 'True', why = '' } = how
  const { heartbeat = moment, revision = '917200' } = how
  const note = 'machineconfiguration.openshift.io'
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `node-${name}`,
      creationTimestamp: ago('90d'),
      resourceVersion: revision,
      labels: { 'kubernetes.io/hostname': name, [`node-role.kubernetes.io/${of}`]: '' },
      annotations: {
        [`${note}/currentConfig`]: rendered(of, current),
        [`${note}/desiredConfig`]: rendered(of, desired),
        [`${note}/desiredDrain`]: `${drain}-${rendered(of, desired)}`,
        [`${note}/lastAppliedDrain`]: `${lastDrain}-${rendered(of, desired)}`,
        [`${note}/reason`]: reason,
        [`${note}/state`]: state,
      },
    },
    spec: cordoned
      ? { unschedulable: true, taints: [{ effect: 'NoSchedule', key: 'node.kubernetes.io/unschedulable' }] }
      : {},
    status: {
      conditions: [
        {
          type: 'Ready',
          status: ready,
          reason: ready === 'True' ? 'KubeletReady' : 'KubeletNotReady',
          message: ready === 'True' ? 'kubelet is posting ready status' : why,
          lastHeartbeatTime: heartbeat,
          lastTransitionTime: ago('30d'),
        },
      ],
      nodeInfo: { architecture: 'amd64', kubeletVersion: kubelet, operatingSystem: 'linux' },
    },
  }
}

/** Nodes of one pool, so many. */
export const nodes = (of: string, count: number, how: OfNode = {}) =>
  Array.from({ length: count }, (_, at) => node(`${of}-${at}`, of, how))

export function renderedConfig(of: string, hash: string, release: string) {
  return {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: {
      name: rendered(of, hash),
      uid: `mc-${of}-${hash}`,
      creationTimestamp: ago('30d'),
      annotations: {
        'machineconfiguration.openshift.io/generated-by-controller-version': 'abc',
        'machineconfiguration.openshift.io/release-image-version': release,
      },
    },
    spec: {
      osImageURL: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:00',
      config: { ignition: { version: '3.4.0' } },
    },
  }
}

/** What `oc get KIND -o yaml` prints of several. JSON is YAML. */
export const list = (...items: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } }, undefined, 2)

/** A folder with these files, the text of each as it is. */
export function dump(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'kvup-dump-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)

const offline = { cluster: {} as Cluster, clock: systemClock }

/** What `kvup COMMAND --from FOLDER` prints of it, and says beside it; its document, and its exit code. */
export async function told(folder: string, command = 'status', flags: readonly string[] = []) {
  const line = [...command.split(' '), '--from', folder]
  const text = await runText([...line, ...flags], offline)
  const json = await runText([...line, '-o', 'json'], offline)
  const document = JSON.parse(json.out) as Told
  const problems = validate(document, `${command.split(' --', 1)[0]?.replace(' ', '-')}.json`, schemas)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const clean = (words: string) => words.replaceAll(folder, 'DUMP')
  return {
    code: text.code,
    text: clean(text.out),
    err: clean(text.err),
    document,
  }
}

interface ToldLayer {
  layer: string
  title: string
  verdict: string
  says: string
  since?: string
  waitsFor?: string
  expected?: string
  notes?: string[]
  help?: string[]
}

export interface Told extends Record<string, unknown> {
  takenAt: string
  overall: { verdict: string; because?: string }
  layers: ToldLayer[]
}

export const layerIn = ({ layers }: Told, title: string): ToldLayer | undefined =>
  layers.find((one) => one.title === title)

/** The release that it comes from. */
export const installed = { version: '4.13.6', started: ago('80d') }
/** Where it goes, for two hours. */
export const hop = { version: '4.14.1', state: 'Partial', started: ago('2h') } as const

interface Parts {
  cv?: Parameters<typeof clusterVersion>[0]
  co?: Parameters<typeof clusterOperators>[0]
  pools?: readonly object[]
  nodes?: readonly object[]
  more?: Readonly<Record<string, string>>
}

/** A cluster on its way from 4.13.6 to 4.14.1, but for what is said; each part is a file of `oc get -o yaml`. */
export const cluster = ({
  cv = { history: [hop, installed] },
  co = { version: '4.13.6', versions: { etcd: '4.14.1' } },
  pools = [pool('master'), pool('worker')],
  nodes: machines = [...nodes('master', 3), ...nodes('worker', 3)],
  more = {},
}: Parts = {}) =>
  dump({
    'cv.yaml': JSON.stringify(clusterVersion(cv)),
    'co.yaml': list(...clusterOperators(co)),
    'mcp.yaml': list(...pools),
    'node.yaml': list(...machines),
    ...more,
  })

/** At rest at 4.14.1, where it came from 4.13.6. */
export const idle = { history: [{ version: '4.14.1', started: ago('20d') }, installed] }

interface Numbers {
  update?: {
    operators?: object
    manifestsPercent?: number
    pace: string
    leftSeconds?: number
    overdueSeconds?: number
    usual: object
  }
  pools: { name: string; nodes?: object[]; drains?: object[]; machines: number; unavailable: number }[]
  findings: { severity: string; impact: string; summary: string; runbook?: string; since?: string }[]
  offers?: object
  last?: object
  alerts?: object[]
}

/** OKD or OpenShift in numbers, of a status. */
export const numbersOf = (document: Told) => document['platform'] as Numbers
