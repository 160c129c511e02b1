import * as kube from '../kinds.ts'
import { condition, type Condition, type Metadata } from '../../lib/kube/object.ts'
import {
  controlEach,
  foundIn,
  keyed,
  keyOf,
  made,
  mergeStatus,
  recordEvent,
  seconds,
} from '../machinery/controller.ts'
import { namespaced, ownerReference } from '../machinery/owned-pods.ts'
import type { Virt } from './vmi-controller.ts'
import { isDeepStrictEqual } from 'node:util'
import { isBefore, type Version, versionOf } from '../../lib/releases/release-versions.ts'
import { at, items, text, words } from '../api/json.ts'
import { isConflict } from '../../lib/kube/errors.ts'

const by = 'virtualmachine-controller'

/** What a restart, a start or a stop leaves in the status of a VM for the controller. */
export interface StateChange {
  action: 'Start' | 'Stop'
}
type Status = NonNullable<kube.Vm['status']>

/** Gives each VM the instance that its run strategy asks for (facts 3.4: what comes back after an eviction). */
export function runVirtualMachines(cx: Virt): Promise<void> {
  return controlEach(cx, [keyed(kube.Vms, named), keyed(kube.Vmis, named)], async () => async (ref) => {
    const vm = foundIn(await cx.reader.get(kube.Vms, ref))
    if (vm) await reconcile(cx, vm, foundIn(await cx.reader.get(kube.Vmis, ref)))
  })
}

/** An instance has the name of its VM. */
const named = ({ metadata }: kube.Vm | kube.Vmi): string[] => [keyOf(metadata)]

const absent = { printableStatus: 'Stopped', ready: false, created: false }
const starting = { printableStatus: 'Starting', ready: false, created: true }

async function reconcile(cx: Virt, vm: kube.Vm, vmi: kube.Vmi | undefined): Promise<void> {
  const own: Status = vm.status ?? {}
  const requests: readonly StateChange[] = own.stateChangeRequests ?? []
  const status = vmi ? await keep(cx, vm, vmi, requests) : await startAsAsked(cx, vm, requests)
  await mergeStatus(cx, kube.Vms, vm, status)
}

async function startAsAsked(cx: Virt, vm: kube.Vm, [request]: readonly StateChange[]): Promise<Status> {
  if (request?.action !== 'Start' && !startsByItself(vm)) return absent
  await start(cx, vm)
  // A start takes over everything that waited for it.
  const conditions = vm.status?.conditions && { conditions: withoutRestart(vm.status.conditions) }
  return { ...starting, ...conditions, ...(request && { stateChangeRequests: null }) }
}

async function keep(
  cx: Virt,
  vm: kube.Vm,
  vmi: kube.Vmi,
  [request, ...later]: readonly StateChange[],
): Promise<Status> {
  const isThrough = vmi.status?.phase === 'Succeeded' || vmi.status?.phase === 'Failed'
  if (isThrough || request?.action === 'Stop') {
    await stop(cx, vm, vmi)
    return { ...absent, stateChangeRequests: later }
  }
  const conditions = await conditionsOf(cx, vm, vmi)
  return { ...statusOf(vmi), ...(conditions && { conditions }) }
}

/** RerunOnFailure, Once: only the first time, since no guest here ever fails. */
function startsByItself({ spec, status }: kube.Vm): boolean {
  const strategy = spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted')
  if (strategy === 'Always') return true
  return (strategy === 'RerunOnFailure' || strategy === 'Once') && status?.printableStatus === undefined
}

function statusOf(vmi: kube.Vmi): Status {
  const ready = vmi.status?.phase === 'Running'
  const { startTimestamp, endTimestamp } = vmi.status?.migrationState ?? {}
  const isMigrating = startTimestamp !== undefined && endTimestamp === undefined
  const waits = condition(vmi, 'PodScheduled')?.status === 'False' ? 'ErrorUnschedulable' : 'Starting'
  return { printableStatus: isMigrating ? 'Migrating' : ready ? 'Running' : waits, ready, created: true }
}

async function start(cx: Virt, vm: kube.Vm): Promise<void> {
  const { name, namespace } = vm.metadata
  const { metadata, spec } = vm.spec?.template ?? {}
  const { labels = {}, annotations = {} } = (metadata ?? {}) as Partial<Metadata>
  // The cluster's strategy is frozen into the instance when it is made (facts 1.3).
  const evictionStrategy = spec?.evictionStrategy ?? text(await configurationOf(cx), 'evictionStrategy')
  const virtualMachineRevisionName = await keepStart(cx, vm)
  const vmi: kube.Vmi = made(kube.Vmis, {
    metadata: { name, namespace, labels, annotations, ownerReferences: [ownerReference(vm)] },
    spec: { ...spec, ...(evictionStrategy !== undefined && { evictionStrategy }) },
    status: { virtualMachineRevisionName },
  })
  await cx.writer.create(kube.Vmis, vmi)
  const message = `Started the virtual machine by creating the new virtual machine instance ${name}`
  await recordEvent(cx, vm, by, ['Normal', 'SuccessfulCreate', message])
}

async function configurationOf(cx: Virt): Promise<Record<string, unknown> | undefined> {
  const [kubevirt]: kube.KubeVirt[] = await cx.reader.list(kube.KubeVirts, { namespace: cx.namespace })
  return kubevirt?.spec?.configuration
}

async function stop(cx: Virt, vm: kube.Vm, { metadata }: kube.Vmi): Promise<void> {
  await cx.writer.delete(kube.Vmis, metadata, { uid: metadata.uid })
  const message = `Stopped the virtual machine by deleting the virtual machine instance ${metadata.uid}`
  await recordEvent(cx, vm, by, ['Normal', 'SuccessfulDelete', message])
}

const type = 'RestartRequired'
const message = 'a non-live-updatable field was changed in the template spec'
const withoutRestart = (conditions: readonly Condition[] = []): Condition[] =>
  conditions.filter((one) => one.type !== type)

type Spec = NonNullable<kube.Vm['spec']>
type Inner = Record<string, unknown>

/** The conditions of a VM whose VMI is there, with RestartRequired as the controller's version sets and clears it (facts 5). */
async function conditionsOf(cx: Virt, vm: kube.Vm, vmi: kube.Vmi): Promise<Condition[] | undefined> {
  const { conditions } = vm.status ?? {}
  const started = await earlierSpec(cx, vm, vmi)
  if (started === undefined) return conditions
  const version = versionOf(cx.launcherImage.split(':').at(-1))
  const is = needsRestart(started, { now: vm.spec ?? {}, vmi, live: await isLive(cx, version) })
  const isSet = conditions?.some((one) => one.type === type) === true
  if (is === isSet) return conditions
  if (!is) return isBefore(version, 8) ? conditions : withoutRestart(conditions)
  return [...(conditions ?? []), { type, status: 'True', message, lastTransitionTime: seconds(cx) }]
}

async function isLive(cx: Virt, version: Version | undefined): Promise<boolean> {
  const configuration = await configurationOf(cx)
  const gates = words(configuration, 'developerConfiguration', 'featureGates')
  if (isBefore(version, 5) && !gates.includes('VMLiveUpdateFeatures')) return false
  const strategy = text(configuration, 'vmRolloutStrategy') ?? (isBefore(version, 6) ? 'Stage' : 'LiveUpdate')
  return strategy === 'LiveUpdate'
}

/** Everything in the spec of the template, but for what can change on a running VM (KubeVirt addRestartRequiredIfNeeded). */
function needsRestart(started: Spec, { now, vmi, live }: { now: Spec; vmi: kube.Vmi; live: boolean }) {
  const [before, after] = [started, now].map(innerOf) as [Inner, Inner]
  const taken = live ? liveFields(before, after) : []
  const disks = live ? hasLiveVolumes(before, after) : sameDisks(after, (vmi.spec ?? {}) as Inner)
  const ignored = [
    ...taken,
    ...(disks ? diskFields : []),
    ...(hasLiveNetworks(before, after) ? networkFields : []),
  ]
  for (const path of ignored) take(before, after, path)
  return !isDeepStrictEqual(before, after)
}

const innerOf = (spec: Spec): Inner => structuredClone(spec.template?.spec ?? {}) as Inner

const diskFields = [['volumes'], ['domain', 'devices', 'disks']]
const networkFields = [['networks'], ['domain', 'devices', 'interfaces']]

function liveFields(before: Inner, after: Inner): string[][] {
  const both = [before, after].every((inner) => at(inner, 'domain', 'cpu') !== undefined)
  const memory = at(after, 'domain', 'memory', 'guest') !== undefined
  return [
    ['nodeSelector'],
    ['affinity'],
    ['tolerations'],
    ...(both ? [['domain', 'cpu', 'sockets']] : []),
    ...(memory ? [['domain', 'memory', 'guest']] : []),
  ]
}

/** Only hotpluggable ones came, went or changed. */
function hasLiveVolumes(before: Inner, after: Inner): boolean {
  const volumes = [items(before, 'volumes'), items(after, 'volumes')]
  const changed = volumes.flat().filter((volume) => !volumes.every((list) => isIn(list, volume)))
  return changed.every((volume) =>
    ['persistentVolumeClaim', 'dataVolume'].some((source) => at(volume, source, 'hotpluggable') === true),
  )
}

const isIn = (list: readonly unknown[], volume: unknown): boolean =>
  list.some((one) => isDeepStrictEqual(one, volume))

const sameDisks = (after: Inner, running: Inner): boolean =>
  diskFields.every((path) => isDeepStrictEqual(at(after, ...path), at(running, ...path)))

/** Those that are there before and after are as they were. */
function hasLiveNetworks(before: Inner, after: Inner): boolean {
  const [earlier, later] = [before, after].map((inner) => items(inner, 'domain', 'devices', 'interfaces'))
  return (earlier ?? []).every((one) => {
    const same = (later ?? []).find(({ name }) => name === one['name'])
    return same === undefined || isDeepStrictEqual({ ...one, state: null }, { ...same, state: null })
  })
}

/** Copies a field, or its absence. */
function take(into: Inner, from: Inner, path: readonly string[]): void {
  const [field = '', ...above] = path.toReversed()
  const value = at(from, ...path)
  const holder = above.toReversed().reduce<Inner>((inner, key) => (inner[key] ??= {}) as Inner, into)
  if (value === undefined) Reflect.deleteProperty(holder, field)
  else holder[field] = value
}

/** Keeps the spec that a VM is started with, and forgets that of the start before (KubeVirt createVMRevision). Its name goes into the VMI. */
async function keepStart(cx: Virt, { metadata, spec, status }: kube.Vm): Promise<string> {
  const { uid, namespace, generation: revision = 1 } = metadata
  const prefix = `revision-start-vm-${uid}-`
  const name = `${prefix}${revision}`
  // A VM without a status was never started.
  const kept =
    status?.printableStatus === undefined
      ? []
      : await cx.reader.list(kube.ControllerRevisions, namespaced(metadata))
  for (const { metadata: found } of kept)
    if (found.name.startsWith(prefix) && found.name !== name)
      await cx.writer.delete(kube.ControllerRevisions, found)
  const owners = [ownerReference({ ...kube.Vms, metadata })]
  try {
    await cx.writer.create(
      kube.ControllerRevisions,
      made(kube.ControllerRevisions, {
        metadata: { name, namespace, ownerReferences: owners },
        data: { spec },
        revision,
      }),
    )
  } catch (error) {
    // Started with the same spec before.
    if (!isConflict(error)) throw error
  }
  return name
}

/** The spec at the start of this VMI where the VM was written since; undefined where it was not, or the record is gone. */
async function earlierSpec(cx: Virt, { metadata }: kube.Vm, { status }: kube.Vmi): Promise<Spec | undefined> {
  const name = status?.virtualMachineRevisionName
  if (name === undefined || name.endsWith(`-${metadata.generation ?? 1}`)) return undefined
  const found = foundIn(await cx.reader.get(kube.ControllerRevisions, { name, ...namespaced(metadata) }))
  return (found?.data as { spec?: Spec } | undefined)?.spec
}
