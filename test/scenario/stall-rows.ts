import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { ApiFault } from './api-faults.ts'
import type { Simulation } from '../../src/simulator/simulated-cluster.ts'
import type { OperatorFaults } from '../../src/simulator/virt-operator/virt-operator-context.ts'
import { byManifest, byTag, kvupUser, second, type Stage } from './stage.ts'

/** A fault, and what kvup has to say of it. */
export interface StallRow {
  name: string
  shape: Omit<Simulation, 'clock'>
  to: string
  /** Switches it on; the answer switches it off. */
  on: (stage: Stage) => () => void
  /** More of the command line. */
  flags?: readonly string[]
  /** The API server is asked through its faults. */
  shaky?: true
  code: number
  /** Object and cause, in what the upgrade says and, where a look can tell, in what status says. */
  says: readonly RegExp[]
  /** `upgrade`: only who was there knows it. */
  knownTo: 'upgrade' | 'both'
  /** Commands that have to be among the printed ones. */
  prints: readonly RegExp[]
  /** It is not as bad from its beginning on. */
  turns?: true
  /** The way back has to work while the fault is on. */
  backInTrouble?: true
}

const three = { ...byTag, workers: 3 } as const
const short = ['--timeout', '3m'] as const
/** Held up by what may heal they are stalled after two minutes. */
const held = ['--timeout', '5m'] as const
/** Stalled without a word takes ten minutes. */
const long = ['--timeout', '13m'] as const

const inCluster =
  (faults: OperatorFaults): StallRow['on'] =>
  ({ simulated }) => {
    const off = Object.fromEntries(Object.keys(faults).map((name) => [name, undefined]))
    simulated.faults.set(faults)
    return () => simulated.faults.set(off)
  }

const inApi =
  (fault: ApiFault): StallRow['on'] =>
  ({ api }) =>
    api.add(fault)

const later =
  (ms: number, on: StallRow['on']): StallRow['on'] =>
  (stage) => {
    let off: (() => void) | undefined
    stage.later(ms, () => (off = on(stage)))
    return () => off?.()
  }

/** Its node is tainted as soon as the first new virt-handler is ready. */
const taintedBehindCanary: StallRow['on'] = ({ simulated: { store, faults } }) => {
  const stop = store.watch(Pods, ({ object }) => {
    const { metadata, spec, status }: Pod = object
    const isNew = metadata.annotations?.['kubevirt.io/install-strategy-version'] === 'v1.8.4'
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
    if (metadata.labels?.['kubevirt.io'] !== 'virt-handler' || !isNew || !isReady) return
    stop()
    queueMicrotask(() => faults.set({ tainted: [spec?.nodeName ?? ''] }))
  })
  return () => {
    stop()
    faults.set({ tainted: undefined })
  }
}

const frozen = 'spec is frozen'
const validator = 'kubevirt-update-validator.kubevirt.io'
const methods = ['spec', 'workloadUpdateStrategy', 'workloadUpdateMethods']
const tag = { shape: three, to: 'v1.8.4', code: 4, knownTo: 'both', flags: short } as const
const manifest = {
  shape: { ...byManifest, workers: 2 },
  to: 'v1.9.0',
  code: 4,
  knownTo: 'both',
  flags: short,
} as const

/** By the name of the fault; several rows where one fault has several faces. */
export const stallRows: Readonly<Record<string, readonly StallRow[]>> = {
  unpullable: [
    {
      ...tag,
      name: 'one image is not in the registry',
      on: inCluster({ unpullable: '/virt-api:v1\\.8\\.4$' }),
      says: [/virt-api on cp-1 cannot pull quay\.io\/kubevirt\/virt-api:v1\.8\.4: not found/],
      prints: [/^kubectl -n kubevirt describe pod virt-api-/],
    },
    {
      ...tag,
      name: 'a tag that does not exist',
      shape: { ...byTag, version: 'v1.8.4' },
      to: 'v1.8.5',
      flags: [...short, '--method', 'image-tag', '--accept', 'release-unknown'],
      on: inCluster({ unpullable: ':v1\\.8\\.5$' }),
      says: [/of the install strategy cannot pull quay\.io\/kubevirt\/virt-operator:v1\.8\.5: not found/],
      prints: [/^kubectl -n kubevirt describe pod kubevirt-/, /^kvup upgrade --to v1\.8\.4$/],
      backInTrouble: true,
    },
  ],
  denied: [
    {
      ...tag,
      name: 'the registry does not let this cluster pull',
      on: inCluster({ denied: '/virt-handler:v1\\.8\\.4$' }),
      says: [/virt-handler on worker-\d cannot pull \S+\/virt-handler:v1\.8\.4: not allowed to pull it/],
      prints: [/^kubectl -n kubevirt describe pod virt-handler-/],
    },
  ],
  crashing: [
    {
      ...tag,
      name: 'the canary ends again and again',
      on: inCluster({ crashing: '/virt-handler:v1\\.8\\.4$' }),
      says: [
        /virt-handler on worker-\d is in CrashLoopBackOff \(\d restarts, exit code 1\)/,
        /last log line: "a fault of the simulator ends this container"/,
      ],
      prints: [/^kubectl -n kubevirt logs virt-handler-\S+ --previous$/],
    },
    {
      ...tag,
      name: 'the Job of the install strategy fails',
      on: inCluster({ crashing: '/virt-operator:v1\\.8\\.4$' }),
      says: [
        /of the install strategy (?:and \d more are|is) in Error \(exit code 1\), last log line: "a fault of the/,
      ],
      prints: [/^kubectl -n kubevirt logs kubevirt-\S+$/, /^kvup upgrade --to v1\.7\.0$/],
    },
  ],
  unschedulable: [
    {
      ...tag,
      name: 'no node takes a pod',
      on: inCluster({ unschedulable: '^virt-api-' }),
      flags: held,
      says: [/pod virt-api-\S+ finds no node: 0\/4 nodes are available: 4 Insufficient memory/],
      prints: [/^kubectl -n kubevirt describe pod virt-api-/],
    },
  ],
  notReady: [
    {
      ...tag,
      name: 'nodes are lost on the way',
      flags: held,
      on: later(15 * second, inCluster({ notReady: ['worker-2', 'worker-3'] })),
      says: [/nodes worker-2 and worker-3 are NotReady, and virt-handler waits for them/],
      prints: [/^kubectl describe node worker-2$/],
    },
  ],
  tainted: [
    {
      ...tag,
      name: 'a node is tainted behind the new virt-handler',
      turns: true,
      on: taintedBehindCanary,
      says: [
        /virt-handler on worker-\d is on a node that its DaemonSet excludes: the taint dedicated:NoSchedule/,
      ],
      prints: [/^kubectl describe node worker-\d$/],
    },
  ],
  quota: [
    {
      ...tag,
      name: 'a quota is used up',
      flags: held,
      on: inCluster({ quota: 'kubevirt' }),
      says: [
        /pods of the install strategy cannot be created: the ResourceQuota pods is used up \(requested: pods=1/,
      ],
      prints: [/^kubectl -n kubevirt describe resourcequota pods$/],
    },
  ],
  withoutRights: [
    {
      ...tag,
      name: 'virt-operator lacks a right',
      on: inCluster({ withoutRights: true }),
      says: [/virt-operator may not patch customresourcedefinitions virtualmachines\.kubevirt\.io/],
      prints: [
        /^kvup upgrade --to v1\.8\.4 --method operator-manifest$/,
        /^kubectl -n kubevirt logs -l kubevirt\.io=virt-operator/,
      ],
    },
  ],
  stopped: [
    {
      ...tag,
      name: 'virt-operator hangs',
      flags: held,
      on: inCluster({ stopped: true }),
      says: [
        /STALLED for [^:]+: virt-operator is gone or stuck: its leader virt-operator-\S+ did not renew its Lease within 30 s/,
      ],
      prints: [/^kubectl -n kubevirt logs -l kubevirt\.io=virt-operator --tail=20$/],
    },
  ],
  statusTooLarge: [
    {
      ...tag,
      name: 'the conditions are frozen',
      flags: long,
      on: inCluster({ statusTooLarge: true }),
      says: [/no progress on virt-handler[\s\S]*virt-operator logs ".*etcdserver: request is too large"/],
      prints: [/^kubectl -n kubevirt logs -l kubevirt\.io=virt-operator --tail=20$/],
    },
  ],
  storedVersion: [
    {
      ...manifest,
      name: 'a CRD cannot drop a version that is stored',
      on: later(
        5 * second,
        inCluster({
          storedVersion: { crd: 'virtualmachineexports.export.kubevirt.io', version: 'v1alpha1' },
        }),
      ),
      says: [
        /refuses a new CRD: virtualmachineexports\.export\.kubevirt\.io has objects stored as v1alpha1, which the new version drops/,
      ],
      prints: [
        /^kvup check --to v1\.9\.0$/,
        /^kubectl get crd virtualmachineexports\.export\.kubevirt\.io -o jsonpath=/,
      ],
    },
  ],
  'webhook-down': [
    {
      ...tag,
      name: 'virt-operator meets a webhook that nobody answers',
      on: inApi({
        is: 'webhook-down',
        resource: 'daemonsets',
        webhook: 'policy.example.com',
        service: 'virt-api.kubevirt',
      }),
      says: [
        /virt-operator is stuck: the webhook policy\.example\.com does not answer, service virt-api in namespace kubevirt \(connection refused\)/,
      ],
      prints: [/^kubectl -n kubevirt get endpointslices -l kubernetes\.io\/service-name=virt-api$/],
    },
    {
      ...tag,
      name: 'kvup itself meets one',
      on: inApi({
        is: 'webhook-down',
        resource: 'kubevirts',
        operations: ['UPDATE'],
        webhook: validator,
        service: 'kubevirt-operator-webhook.kubevirt',
      }),
      knownTo: 'upgrade',
      flags: long,
      says: [
        /timed out after 5 m while pausing automatic VM updates/,
        /failed calling webhook "kubevirt-update-validator/,
      ],
      prints: [
        /^kubectl -n kubevirt get endpointslices -l kubernetes\.io\/service-name=kubevirt-operator-webhook$/,
      ],
    },
  ],
  'webhook-refuses': [
    {
      ...tag,
      name: 'a policy lets no pod be made',
      flags: held,
      on: inApi({
        is: 'webhook-refuses',
        resource: 'pods',
        operations: ['CREATE'],
        webhook: 'policy.example.com',
        message: 'no pods today',
      }),
      says: [
        /pods of the install strategy cannot be created: the webhook policy\.example\.com refuses it: no pods today/,
      ],
      prints: [/^kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations$/],
    },
    {
      ...tag,
      name: 'a policy does not let kvup write',
      knownTo: 'upgrade',
      code: 3,
      on: inApi({
        is: 'webhook-refuses',
        resource: 'kubevirts',
        operations: ['UPDATE'],
        webhook: validator,
        message: frozen,
      }),
      says: [
        /admission webhook "kubevirt-update-validator\.kubevirt\.io" denied the request: spec is frozen/,
      ],
      prints: [/^kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations$/],
    },
  ],
  reverts: [
    {
      ...tag,
      name: 'somebody sets the methods back',
      knownTo: 'upgrade',
      code: 3,
      on: inApi({
        is: 'reverts',
        resource: 'kubevirts',
        path: methods,
        value: ['LiveMigrate'],
        afterMs: 2000,
        by: 'some-controller',
      }),
      says: [/something reverted kvup's change.*some-controller/s],
      prints: [/^kubectl -n kubevirt get kubevirts kubevirt -o yaml --show-managed-fields$/],
    },
  ],
  refused: [
    {
      ...tag,
      name: 'the API server is away for good',
      shaky: true,
      knownTo: 'upgrade',
      on: later(10 * second, inApi({ is: 'refused', status: 503, on: { user: kvupUser } })),
      says: [/kvup could not reach the cluster: .*unable to handle the request/],
      prints: [/^kvup workloads resume-updates$/],
    },
  ],
  unauthorized: [
    {
      ...tag,
      name: 'the login has ended',
      shaky: true,
      knownTo: 'upgrade',
      on: later(10 * second, inApi({ is: 'unauthorized', on: { user: kvupUser } })),
      says: [/log in again in another terminal/],
      prints: [/^kvup workloads resume-updates$/],
    },
  ],
}
