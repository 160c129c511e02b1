import { isDeepStrictEqual } from 'node:util'
import { type KubeVirt, KubeVirts } from '../../../cluster/kinds/kubevirt.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../../cluster/kinds/virtual-machines.ts'
import type { Condition } from '../../../cluster/object.ts'
import { type Version, versionOf } from '../../../releases/version.ts'
import { at, items, text, words } from '../../api/json.ts'
import { seconds, type VirtControllerContext } from './controller-context.ts'
import { earlierSpec } from './start-revision.ts'

const type = 'RestartRequired'
const message = 'a non-live-updatable field was changed in the template spec'

type Spec = NonNullable<VirtualMachine['spec']>
type Inner = Record<string, unknown>

/** The conditions of a VM whose VMI is there, with RestartRequired as the controller's version sets and clears it (facts 5). */
export async function conditionsOf(
  cx: VirtControllerContext,
  vm: VirtualMachine,
  vmi: VirtualMachineInstance,
): Promise<Condition[] | undefined> {
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

/** A start takes over everything. */
export function withoutRestart(conditions: readonly Condition[] = []): Condition[] {
  return conditions.filter((one) => one.type !== type)
}

async function isLive(cx: VirtControllerContext, version: Version | undefined): Promise<boolean> {
  const [kubevirt]: KubeVirt[] = await cx.reader.list(KubeVirts, { namespace: cx.namespace })
  const configuration = kubevirt?.spec?.configuration
  const gates = words(configuration, 'developerConfiguration', 'featureGates')
  if (isBefore(version, 5) && !gates.includes('VMLiveUpdateFeatures')) return false
  const strategy = text(configuration, 'vmRolloutStrategy') ?? (isBefore(version, 6) ? 'Stage' : 'LiveUpdate')
  return strategy === 'LiveUpdate'
}

/** Everything in the spec of the template, but for what can change on a running VM (KubeVirt addRestartRequiredIfNeeded). */
function needsRestart(
  started: Spec,
  { now, vmi, live }: { now: Spec; vmi: VirtualMachineInstance; live: boolean },
): boolean {
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

function isIn(list: readonly unknown[], volume: unknown): boolean {
  return list.some((one) => isDeepStrictEqual(one, volume))
}

function sameDisks(after: Inner, running: Inner): boolean {
  return diskFields.every((path) => isDeepStrictEqual(at(after, ...path), at(running, ...path)))
}

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

function isBefore(version: Version | undefined, minor: number): boolean {
  return version !== undefined && (version.major < 1 || (version.major === 1 && version.minor < minor))
}
