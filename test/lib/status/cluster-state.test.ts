import { describe, expect, test } from 'vitest'
import type { Entry, Override } from '../../../src/lib/engine/journal.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { headAndDetails, stateLines as markedLines } from '../../../src/lib/output/views/cluster-state.ts'
import {
  clusterState,
  noCluster,
  type Judged,
  type StateInputs,
  type StateName,
} from '../../../src/lib/status/cluster-state.ts'
import { pausedUpdates } from './paused-updates.ts'

const now = '2026-11-25T12:00:00Z'
const ago = (seconds: number) => new Date(Date.parse(now) - seconds * 1000).toISOString()

const component = (name: string, version: string, more: object = {}) =>
  ({
    name,
    kind: 'Deployment',
    applied: true,
    rolled: true,
    updated: 2,
    ready: 2,
    desired: 2,
    version,
    state: 'current',
    detail: '',
    ...more,
  }) as const

const well: Judged = {
  takenAt: now,
  verdict: 'Healthy',
  since: ago(3600),
  why: [],
  installation: { namespace: 'kubevirt', manager: { kind: 'plain' } },
  observed: { version: 'v1.7.4' },
  target: { version: 'v1.7.4' },
  components: [component('virt-handler', 'v1.7.4'), component('virt-controller', 'v1.7.4')],
  doubts: [],
  remarks: [],
  workloads: { instances: 12, outdated: { labelled: 0 } },
}

/** KubeVirt is on its way to v1.8.4. */
const onTheWay: Judged = {
  ...well,
  verdict: 'Updating',
  since: ago(200),
  target: { version: 'v1.8.4' },
  waitingFor: 'virt-handler: 1/6 updated',
}

const crash = {
  kind: 'crash',
  component: 'virt-handler',
  reason: 'CrashLoopBackOff',
  terminal: true,
  namespace: 'kubevirt',
  pods: ['virt-handler-5t5h7'],
  nodes: ['worker-1'],
  lastLog: 'failed to detect kvm',
  sentence: 'virt-handler on worker-1 keeps failing (CrashLoopBackOff, 6 restarts)',
  commands: ['kubectl -n kubevirt logs virt-handler-5t5h7 --previous', 'kubectl get nodes'],
} as const

const override = (more: Partial<Override> = {}): Override =>
  pausedUpdates({ procedure: 'upgrade to v1.8.4', at: ago(60), ...more })

const entry = (what: Entry['what'], seconds: number, more: Partial<Entry> = {}): Entry => ({
  at: ago(seconds),
  by: 'root@jump',
  procedure: 'upgrade to v1.8.4',
  step: '',
  what,
  text: '',
  ...more,
})

const interrupted = [
  entry('started', 70),
  entry('applied', 65, { place: { step: 1, of: 5 } }),
  entry('interrupted', 57, { step: 'virt-handler', place: { step: 3, of: 5 } }),
]
const killed = interrupted.slice(0, 2)
const finished = [...interrupted, entry('started', 50), entry('finished', 5)]

const paused =
  'paused 1 m ago: automatic VM updates (was LiveMigrate); VMs run on, drains still move them; CPU, memory and volume changes wait'
const vms = '12 VMs running, none outdated'

interface Row {
  name: string
  inputs: Partial<StateInputs>
  is: StateName
  headline: string
  why?: readonly string[]
  next?: string | undefined
  back?: string
  upgrade?: object
}

const holder = { holder: 'root@host/7/abc', since: ago(300), renewed: ago(2) }
const local = (iso: string) => {
  const time = new Date(iso)
  return [time.getHours(), time.getMinutes()].map((n) => String(n).padStart(2, '0')).join(':')
}

const rows: readonly Row[] = [
  { name: 'healthy', inputs: {}, is: 'Healthy', headline: 'KubeVirt v1.7.4 on prod-eu: healthy', why: [vms] },
  {
    name: 'update available',
    inputs: { update: { to: 'v1.8.4', next: 'kvup upgrade --to v1.8.4', details: 'kvup check --to v1.8.4' } },
    is: 'Healthy',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy. Update available: v1.8.4',
    next: 'kvup upgrade --to v1.8.4',
  },
  {
    name: 'outdated VMs',
    inputs: { report: { ...well, workloads: { instances: 12, outdated: { labelled: 3 } } } },
    is: 'Healthy',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy',
    why: ['12 VMs running, 3 outdated'],
    next: 'kvup workloads outdated',
  },
  {
    name: 'VMs that may not be read are not none',
    inputs: { report: { ...well, workloads: { outdated: {} } } },
    is: 'Healthy',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy',
    why: ['VMs not checked'],
  },
  {
    name: 'healthy as far as it was seen',
    inputs: { report: { ...well, remarks: ['pods are not judged: pods is forbidden'] } },
    is: 'NotChecked',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy, but not everything was checked',
    why: ['not checked: pods are not judged: pods is forbidden', vms],
  },
  {
    name: 'a journal that may not be read is not one without an interrupted run',
    inputs: { unread: ['the journal of kvup: configmaps is forbidden'] },
    is: 'NotChecked',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy, but not everything was checked',
    why: ['not checked: the journal of kvup: configmaps is forbidden', vms],
  },
  {
    name: 'interrupted, from the journal and the note on the object',
    inputs: { entries: interrupted, overrides: [override()] },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 57 s ago, at step 3 of 5; KubeVirt is healthy',
    why: [paused, vms],
    next: 'kvup upgrade --to v1.8.4     continues',
    upgrade: { from: 'v1.7.4', to: 'v1.8.4' },
  },
  {
    name: 'interrupted, with a manifest of its own: the line alone would ask for the public one',
    inputs: {
      entries: [
        entry('started', 70),
        entry('intends', 66, {
          text: 'apply releases/kubevirt-operator.yaml (sha256 66e4474580e922e5…): 4 objects change',
        }),
        entry('interrupted', 57, { step: 'virt-handler', place: { step: 3, of: 5 } }),
      ],
      overrides: [override()],
    },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 57 s ago, at step 3 of 5; KubeVirt is healthy',
    next: 'kvup upgrade --to v1.8.4     continues; add the --manifest or --manifest-base of that run',
  },
  {
    name: 'interrupted, with the public manifest',
    inputs: {
      entries: [
        entry('started', 70),
        entry('applied', 66, {
          text: 'apply https://github.com/kubevirt/kubevirt/releases/download/v1.8.4/kubevirt-operator.yaml (sha256 66e4474580e922e5…): 4 objects change',
        }),
        entry('interrupted', 57, { step: 'virt-handler', place: { step: 3, of: 5 } }),
      ],
      overrides: [override()],
    },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 57 s ago, at step 3 of 5; KubeVirt is healthy',
    next: 'kvup upgrade --to v1.8.4     continues',
  },
  {
    name: 'killed: no entry says where it ended',
    inputs: { entries: killed, overrides: [override()] },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 1 m 05 s ago, after it began step 1 of 5; KubeVirt is healthy',
    next: 'kvup upgrade --to v1.8.4     continues',
  },
  {
    name: 'the journal was deleted: the note on the object says who began',
    inputs: { overrides: [override()] },
    is: 'Interrupted',
    headline: 'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 1 m ago; KubeVirt is healthy',
    next: 'kvup upgrade --to v1.8.4     continues',
  },
  {
    name: 'interrupted while KubeVirt goes on',
    inputs: { report: onTheWay, entries: interrupted, back: 'kvup upgrade --to v1.7.4     goes back' },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 57 s ago, at step 3 of 5; KubeVirt is still updating',
    why: ['waiting for virt-handler: 1/6 updated', vms],
    next: 'kvup upgrade --to v1.8.4     continues',
    back: 'kvup upgrade --to v1.7.4     goes back',
  },
  {
    name: 'a node is lost where nothing is left to be updated',
    inputs: {
      report: {
        ...well,
        verdict: 'Updating',
        since: ago(56),
        waitingFor: 'virt-handler: 2/2 updated, worker-2 (not ready, 1 m)',
        why: [
          {
            ...crash,
            kind: 'node',
            sentence: 'node worker-2 is NotReady, and virt-handler waits for it',
            commands: ['kubectl describe node worker-2'],
          },
        ],
      },
    },
    is: 'Updating',
    headline:
      'KubeVirt v1.7.4 on prod-eu: not healthy for 56 s: node worker-2 is NotReady, and virt-handler waits for it',
    why: ['waiting for virt-handler: 2/2 updated, worker-2 (not ready, 1 m)', vms],
    next: 'kubectl describe node worker-2',
  },
  {
    name: 'interrupted behind a tag that an older operator was told to roll: it continues by that method',
    inputs: {
      report: {
        ...onTheWay,
        installation: { namespace: 'kubevirt', manager: { kind: 'plain' }, imageTag: 'v1.8.4' },
        operator: { version: 'v1.8.3' },
      },
      entries: interrupted,
    },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 57 s ago, at step 3 of 5; KubeVirt is still updating',
    next: 'kvup upgrade --to v1.8.4 --method image-tag     continues',
  },
  {
    name: 'it gave up at the end of its time',
    inputs: {
      report: onTheWay,
      entries: [...killed, entry('failed', 57, { place: { step: 3, of: 5 } })],
    },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu given up 57 s ago, at step 3 of 5 (run by root@jump); KubeVirt is still updating',
    next: 'kvup upgrade --to v1.8.4     continues',
  },
  {
    name: 'it stopped where it was told to',
    inputs: {
      entries: [
        ...killed,
        entry('interrupted', 57, { place: { step: 3, of: 5 }, text: 'stopped before it: until' }),
      ],
      overrides: [override()],
    },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu stopped as asked by root@jump 57 s ago, before step 3 of 5; KubeVirt is healthy',
    next: 'kvup upgrade --to v1.8.4     continues',
  },
  {
    name: 'a journal alone is believed nothing: the cluster does not confirm it',
    inputs: { entries: interrupted.map((one) => ({ ...one, procedure: 'upgrade to v6.6.6' })) },
    is: 'Healthy',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy',
    next: undefined,
  },
  {
    name: 'what is no version in a note is no line to paste',
    inputs: { overrides: [override({ procedure: 'upgrade to v1.8.4;reboot' })] },
    is: 'Healthy',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy',
    next: 'kvup workloads resume-updates     resumes automatic VM updates',
  },
  {
    name: 'finished, and left paused on purpose',
    inputs: {
      report: { ...well, observed: { version: 'v1.8.4' }, target: { version: 'v1.8.4' }, components: [] },
      entries: finished,
      overrides: [override()],
    },
    is: 'Healthy',
    headline: 'KubeVirt v1.8.4 on prod-eu: healthy',
    why: [paused, vms],
    next: 'kvup workloads resume-updates     resumes automatic VM updates',
  },
  {
    name: 'running elsewhere',
    inputs: { report: onTheWay, entries: killed, overrides: [override()], running: holder },
    is: 'Running',
    headline: `KubeVirt v1.7.4 → v1.8.4 on prod-eu: another kvup is running: root@host since ${local(holder.since)}`,
    next: 'kvup status -w     watches it',
  },
  {
    name: 'running elsewhere, and watched already: not the command that is running',
    inputs: { report: onTheWay, running: holder, isWatched: true },
    is: 'Running',
    headline: `KubeVirt v1.7.4 → v1.8.4 on prod-eu: another kvup is running: root@host since ${local(holder.since)}`,
    next: undefined,
  },
  {
    name: 'a process that has ended on this machine runs nothing',
    inputs: {
      report: onTheWay,
      entries: killed,
      running: { ...holder, gone: { user: 'root', host: 'host', pid: 7 } },
    },
    is: 'Interrupted',
    headline:
      'Upgrade v1.7.4 → v1.8.4 on prod-eu interrupted by root@jump 1 m 05 s ago, after it began step 1 of 5; KubeVirt is still updating',
  },
  {
    name: 'stalled: the cause, its last log line, how far it came',
    inputs: {
      report: {
        ...onTheWay,
        verdict: 'Stalled',
        since: ago(420),
        why: [crash],
        components: [
          component('virt-handler', 'v1.8.4', { state: 'stalled', rolled: false, updated: 1, desired: 6 }),
        ],
      },
      entries: interrupted,
      overrides: [override()],
      back: 'kvup upgrade --to v1.7.4     goes back',
    },
    is: 'Stalled',
    headline:
      'KubeVirt v1.7.4 → v1.8.4 on prod-eu: STALLED for 7 m: virt-handler on worker-1 keeps failing (CrashLoopBackOff, 6 restarts)',
    why: [
      'last log line: "failed to detect kvm"',
      `virt-handler: 1 of 6 updated; ${vms}`,
      'the upgrade to v1.8.4 by kvup was interrupted by root@jump 57 s ago, at step 3 of 5',
      paused,
    ],
    next: 'kubectl -n kubevirt logs virt-handler-5t5h7 --previous',
    back: 'kvup upgrade --to v1.7.4     goes back',
    upgrade: { from: 'v1.7.4', to: 'v1.8.4' },
  },
  {
    name: 'degraded',
    inputs: { report: { ...well, verdict: 'Degraded', since: ago(10_740), why: [crash] } },
    is: 'Degraded',
    headline:
      'KubeVirt v1.7.4 on prod-eu: DEGRADED for 2 h 59 m: virt-handler on worker-1 keeps failing (CrashLoopBackOff, 6 restarts)',
    next: 'kubectl -n kubevirt logs virt-handler-5t5h7 --previous',
  },
  {
    name: 'updating, by whomever',
    inputs: { report: onTheWay },
    is: 'Updating',
    headline: 'KubeVirt v1.7.4 → v1.8.4 on prod-eu: updating for 3 m 20 s',
    why: ['waiting for virt-handler: 1/6 updated', vms],
    next: 'kvup status -w     watches it',
    upgrade: { from: 'v1.7.4', to: 'v1.8.4' },
  },
  {
    name: 'updating, and what is watched already or is saved is not offered to be watched',
    inputs: { report: onTheWay, isWatched: true },
    is: 'Updating',
    headline: 'KubeVirt v1.7.4 → v1.8.4 on prod-eu: updating for 3 m 20 s',
    why: ['waiting for virt-handler: 1/6 updated', vms],
    next: undefined,
    upgrade: { from: 'v1.7.4', to: 'v1.8.4' },
  },
  {
    name: 'out of step: a component of another version is not healthy',
    inputs: { report: { ...well, components: [component('virt-handler', 'v1.7.0')] } },
    is: 'OutOfStep',
    headline: 'KubeVirt v1.7.4 on prod-eu: OUT OF STEP: virt-handler is v1.7.0',
    why: ['KubeVirt says that the update is done', vms],
    next: 'kubectl -n kubevirt logs -l kubevirt.io=virt-operator --tail=20',
  },
  {
    name: 'out of step: old pods are left',
    inputs: {
      report: {
        ...well,
        doubts: [
          {
            id: 'old-pods',
            sentence: 'virt-handler: pods of another version are left: virt-handler-1',
            commands: ['kubectl -n kubevirt get pods -o wide'],
          },
        ],
      },
    },
    is: 'OutOfStep',
    headline:
      'KubeVirt v1.7.4 on prod-eu: OUT OF STEP: virt-handler: pods of another version are left: virt-handler-1',
    next: 'kubectl -n kubevirt get pods -o wide',
  },
  {
    name: 'migrations fail without end',
    inputs: { failing: ['shop/db-0', 'shop/db-1', 'shop/db-2', 'shop/db-3'] },
    is: 'MigrationsFailing',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy, but migrations fail again and again',
    why: ['KubeVirt retries forever: shop/db-0, shop/db-1, shop/db-2 and 1 more', vms],
    next: 'kvup workloads migrations',
  },
  {
    name: 'the canary of a VM update failed: what resumes all updates at once is not offered',
    inputs: {
      canary: { vms: ['shop/db-0'], by: 'root@jump', at: now, why: 'the CPU lacks a feature' },
      failing: ['shop/db-0'],
    },
    is: 'CanaryFailed',
    headline: 'KubeVirt v1.7.4 on prod-eu: healthy, but the canary of a VM update failed: shop/db-0',
    why: [
      'the update by root@jump stopped 0 s ago: the CPU lacks a feature',
      'its line again tries another VM first, and leaves shop/db-0 as it is',
      vms,
    ],
    next: 'kvup workloads migrations     shows why it failed',
  },
  {
    name: 'nothing installed',
    inputs: {
      report: {
        takenAt: now,
        workloads: { outdated: {} },
        idleOperator: { name: 'virt-operator', namespace: 'kubevirt', version: 'v1.7.0' } as NonNullable<
          Judged['idleOperator']
        >,
        next: ['kubectl apply -f kubevirt-cr.yaml'],
      },
    },
    is: 'NotInstalled',
    headline:
      'KubeVirt on prod-eu is not installed: virt-operator v1.7.0 runs, and there is no KubeVirt resource',
    next: 'kubectl apply -f kubevirt-cr.yaml',
  },
  {
    name: 'a layer above is degraded',
    inputs: {
      report: {
        ...well,
        overall: { verdict: 'Degraded', because: 'operators: machine-config is degraded' },
        layers: [
          { layer: 'operators', title: 'operators', verdict: 'Degraded', says: '', help: ['oc get co'] },
        ] as NonNullable<Judged['layers']>,
      },
    },
    is: 'Degraded',
    headline: 'Cluster prod-eu is DEGRADED: operators: machine-config is degraded',
    why: ['KubeVirt v1.7.4 is healthy', vms],
    next: 'oc get co',
  },
  {
    name: 'the layer that is degraded has no help of its own, and the one behind it does',
    inputs: {
      report: {
        ...well,
        overall: { verdict: 'Degraded', because: 'platform: OpenShift 4.14.1 fails: etcd is degraded' },
        layers: [
          { layer: 'platform', title: 'platform', verdict: 'Degraded', says: '' },
          { layer: 'operators', title: 'operators', verdict: 'Degraded', says: '', help: ['oc get co'] },
          { layer: 'pool', title: 'pool worker', verdict: 'Updating', says: '', help: ['oc get mcp'] },
        ] as NonNullable<Judged['layers']>,
      },
    },
    is: 'Degraded',
    headline: 'Cluster prod-eu is DEGRADED: platform: OpenShift 4.14.1 fails: etcd is degraded',
    why: ['KubeVirt v1.7.4 is healthy', vms],
    next: 'oc get co',
  },
  {
    name: 'an EUS upgrade is under way',
    inputs: {
      report: {
        ...well,
        overall: { verdict: 'Updating', because: 'pool worker: paused' },
        window: { by: 'pools', pools: ['worker'], from: '4.18', at: '4.19' },
      },
    },
    is: 'Updating',
    headline: 'Cluster prod-eu is updating: pool worker: paused',
    why: [
      'EUS upgrade running (from 4.18, now at 4.19): worker pools are paused; KubeVirt v1.7.4 is healthy',
      vms,
    ],
    next: 'kvup eus status',
  },
]

test.each(rows)('$name', ({ inputs, ...row }) => {
  const { name, ...expected } = row
  expect(name).not.toBe('')
  const state = clusterState({ report: well, cluster: 'prod-eu', ...inputs })
  expect({ next: undefined, ...state }).toMatchObject(expected)
  expect(state.back).toBe(expected.back)
})

test('every state has a row, or is that of no cluster', () => {
  const all = new Set<StateName>(['Waiting', 'NoCluster', ...rows.map(({ is }) => is)])
  const names: Record<StateName, true> = {
    NoCluster: true,
    NotInstalled: true,
    Degraded: true,
    Stalled: true,
    Running: true,
    Interrupted: true,
    Updating: true,
    Waiting: true,
    OutOfStep: true,
    CanaryFailed: true,
    MigrationsFailing: true,
    NotChecked: true,
    Healthy: true,
  }
  expect(Object.keys(names).filter((name) => !all.has(name as StateName))).toEqual([])
})

test('no cluster name, no word of one', () => {
  expect(clusterState({ report: well }).headline).toBe('KubeVirt v1.7.4: healthy')
})

const stateLines = (...given: Parameters<typeof markedLines>) => markedLines(...given).map(printedLine)

describe('drawn', () => {
  const paint = paintFor({ colour: false, unicode: true })
  const update = { to: 'v1.8.4', next: 'kvup upgrade --to v1.8.4', details: 'kvup check --to v1.8.4' }
  const offered = clusterState({ report: well, cluster: 'prod-eu', update })

  test('verdict first, then why, then what to type', () => {
    expect(stateLines(offered, paint, { columns: 80 })).toEqual([
      'KubeVirt v1.7.4 on prod-eu: healthy. Update available: v1.8.4',
      '  12 VMs running, none outdated',
      'Next: kvup upgrade --to v1.8.4        Details: kvup check --to v1.8.4',
    ])
  })

  test('on 40 columns nothing is wider, and each command stands alone', () => {
    const lines = stateLines(offered, paint, { columns: 40 })
    expect(lines.filter((line) => line.length > 40)).toEqual([])
    expect(lines).toContain('Next: kvup upgrade --to v1.8.4')
    expect(lines).toContain('Details: kvup check --to v1.8.4')
  })

  test('a command that is too long is broken so that it can be pasted', () => {
    const report: Judged = { ...well, verdict: 'Degraded', why: [crash] }
    const lines = stateLines(clusterState({ report }), paint, { columns: 40 })
    const from = lines.findIndex((line) => line.startsWith('Next:'))
    const command = lines
      .slice(from)
      .map((line) => line.replace(/ \\$/u, '').trim())
      .join(' ')
    expect(command).toBe('Next: kubectl -n kubevirt logs virt-handler-5t5h7 --previous')
    expect(lines.slice(from, -1).every((line) => line.endsWith(' \\'))).toBe(true)
  })

  test('what is longer than the terminal ends with the verdict and the next line, and what is paused', () => {
    const state = {
      is: 'Stalled',
      headline: 'KubeVirt v1.8.4: STALLED for 2 m',
      why: ['one of two that were seen', 'two of two', 'paused 5 m ago: automatic VM updates'],
      next: 'kubectl get pods',
      commands: ['kubectl get events', 'kubectl get nodes'],
    }
    const [verdict, ...rest] = stateLines(state, paint, { columns: 40 })
    expect(verdict).toBe(state.headline)
    expect(rest.slice(-2)).toEqual(['→ kubectl get events', '→ kubectl get nodes'])
    expect(stateLines(state, paint, { columns: 40, rows: 10 })).toHaveLength(7)
    expect(stateLines(state, paint, { columns: 40, rows: 8 })).toEqual([
      '→ kubectl get events',
      '→ kubectl get nodes',
      verdict,
      '  one of two that were seen',
      '  two of two',
      '  paused 5 m ago: automatic VM updates',
      'Next: kubectl get pods',
    ])
    expect(stateLines(state, paint, { columns: 40, rows: 6 }).slice(2)).toEqual([
      verdict,
      '  … 2 more lines in a taller terminal',
      '  paused 5 m ago: automatic VM updates',
      'Next: kubectl get pods',
    ])
  })

  test('details stand below the head, and above it where a terminal would not show both', () => {
    const head = ['head', 'Next: x']
    const details = ['one', 'two']
    expect(headAndDetails(head, details, { columns: 40, rows: 7 })).toEqual([...head, '', ...details])
    expect(headAndDetails(head, details, { columns: 40, rows: 6 })).toEqual([...details, '', ...head])
    expect(headAndDetails(['head'], [], { columns: 40 })).toEqual(['head'])
  })

  test('no cluster: what to type instead', () => {
    expect(stateLines(noCluster('there is no kubeconfig'), paint, { columns: 80 })).toEqual([
      'No cluster: there is no kubeconfig',
      'Next: kvup demo     tries an upgrade on a simulated cluster',
      'Details: kvup --help     lists the commands',
    ])
  })
})
