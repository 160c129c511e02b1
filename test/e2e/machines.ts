import { execFile, spawn } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { eventually } from './installation.ts'
import type { Lab } from './lab.ts'

const run = promisify(execFile)
const programs = path.join(import.meta.dirname, 'lab')

/** A VM that the fixture does not have. */
export interface TestVm {
  name: string
  runStrategy: string
  evictionStrategy: string
  /** Reason of its LiveMigratable=False. */
  notMigratable?: string
  /** Node that its first pod goes to where it can. */
  prefers?: string
}

/** The lab's eleven VMs in namespace `demo` but for those named in `without`, and these in namespace `hand`; returns once all of them run. */
export async function runMachines(
  lab: Lab,
  manually: readonly TestVm[],
  without: readonly string[] = [],
): Promise<void> {
  const { stdout } = await run('bash', [path.join(programs, 'fixtures/vms.sh')])
  const isLeftOut = (vm: string) => without.some((name) => vm.includes(`{name: ${name}, namespace: demo}`))
  const fixture = stdout
    .split('---\n')
    .filter((vm) => !isLeftOut(vm))
    .join('---\n')
  const others = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'hand' } }, ...manually.map(vmOf)]
  const all = [fixture, ...others.map((object) => JSON.stringify(object))].join('\n---\n')
  await fed(path.join(programs, 'run-machines'), [lab.dir], all)
}

const vmOf = ({ name, runStrategy, evictionStrategy, notMigratable, prefers }: TestVm) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name, namespace: 'hand' },
  spec: {
    runStrategy,
    template: {
      metadata: {
        labels: { 'kubevirt.io/vm': name },
        annotations: notMigratable === undefined ? {} : { 'lab.kvup/not-migratable': notMigratable },
      },
      spec: {
        evictionStrategy,
        ...(prefers !== undefined && { affinity: { nodeAffinity: preference(prefers) } }),
        domain: {
          devices: {
            disks: [{ name: 'root', disk: { bus: 'virtio' } }],
            interfaces: [{ name: 'default', masquerade: {} }],
          },
          memory: { guest: '128Mi' },
        },
        networks: [{ name: 'default', pod: {} }],
        volumes: [{ name: 'root', containerDisk: { image: 'quay.io/kubevirt/cirros-container-disk-demo' } }],
      },
    },
  },
})

const preference = (node: string) => ({
  preferredDuringSchedulingIgnoredDuringExecution: [
    {
      weight: 100,
      preference: {
        matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }],
      },
    },
  ],
})

function fed(program: string, args: readonly string[], input: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${path.basename(program)}: ${said}`)),
    )
    child.stdin.end(input)
  })
}

interface Vmi {
  metadata: { name: string; namespace: string; uid: string; labels?: Record<string, string> }
  status: {
    phase: string
    nodeName?: string
    launcherContainerImageVersion?: string
    evacuationNodeName?: string
    conditions?: { type: string; status: string }[]
  }
}

/** Of one VMI, as kubectl has it. */
export interface Snapshot {
  uid: string
  node: string
  launcher: string
  outdated: boolean
  evacuating: boolean
  ready: boolean
}

/** By `namespace/name`; read with kubectl and never through kvup. */
export async function instances(lab: Lab): Promise<ReadonlyMap<string, Snapshot>> {
  const { items } = await lab.object<{ items: Vmi[] }>('get', '-A', 'vmi')
  const observed = items
    .filter(({ status }) => status.phase === 'Running')
    .map(({ metadata, status }) => {
      const one: Snapshot = {
        uid: metadata.uid,
        node: status.nodeName ?? '',
        launcher: status.launcherContainerImageVersion?.split(':').at(-1) ?? '',
        outdated: 'kubevirt.io/outdatedLauncherImage' in (metadata.labels ?? {}),
        evacuating: (status.evacuationNodeName ?? '') !== '',
        ready: status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false,
      }
      return [`${metadata.namespace}/${metadata.name}`, one] as const
    })
  return new Map(observed)
}

interface Vmim {
  metadata: { name: string; namespace: string; creationTimestamp: string; labels?: Record<string, string> }
  spec: { vmiName: string }
  status?: {
    phase?: string
    phaseTransitionTimestamps?: { phase: string; phaseTransitionTimestamp: string }[]
    migrationState?: { endTimestamp?: string }
  }
}

/** One VirtualMachineInstanceMigration; times in ms since the epoch. */
export interface SeenMigration {
  vm: string
  name: string
  phase: string
  by: 'kvup' | 'kubevirt' | 'hand'
  reached: Readonly<Record<string, number>>
  endedAt: number
}

export async function migrations(lab: Lab): Promise<readonly SeenMigration[]> {
  const { items } = await lab.object<{ items: Vmim[] }>('get', '-A', 'vmim')
  return items.map(({ metadata, spec, status }) => ({
    vm: `${metadata.namespace}/${spec.vmiName}`,
    name: metadata.name,
    phase: status?.phase ?? '',
    by: makerOf(metadata),
    reached: Object.fromEntries(
      (status?.phaseTransitionTimestamps ?? []).map((one) => [
        one.phase,
        Date.parse(one.phaseTransitionTimestamp),
      ]),
    ),
    endedAt: Date.parse(status?.migrationState?.endTimestamp ?? '') || 0,
  }))
}

function makerOf({ name, labels = {} }: Vmim['metadata']): SeenMigration['by'] {
  if (labels['app.kubernetes.io/managed-by'] === 'kvup') return 'kvup'
  return name.startsWith('kubevirt-workload-update-') ? 'kubevirt' : 'hand'
}

/** As a person does it, for each of these VMs at once. */
export async function migrateByHand(lab: Lab, vms: readonly string[]): Promise<readonly string[]> {
  const objects = vms.map((vm, index) => {
    const [namespace = '', name = ''] = vm.split('/')
    return {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { name: `by-hand-${name}-${Date.now()}-${index}`, namespace },
      spec: { vmiName: name },
    }
  })
  await lab.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  return objects.map(({ metadata }) => metadata.name)
}

/** Waits until these are over; rejects after `seconds`. */
export async function areOver(lab: Lab, names: readonly string[], seconds: number): Promise<void> {
  await eventually(`${names.join()} are over`, seconds, async () => {
    const ended = (await migrations(lab)).filter(({ phase }) => phase === 'Succeeded' || phase === 'Failed')
    return names.every((name) => ended.some((one) => one.name === name))
  })
}

/** What became of a VM since it was `before`; `stopped`: nothing of it runs. */
export function becomeOf(
  before: Snapshot | undefined,
  now: Snapshot | undefined,
): 'stays' | 'migrates' | 'restarts' | 'shuts down' {
  if (now === undefined) return 'shuts down'
  if (now.uid !== before?.uid) return 'restarts'
  return now.launcher === before.launcher ? 'stays' : 'migrates'
}
