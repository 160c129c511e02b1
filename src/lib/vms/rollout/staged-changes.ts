import { isRecord } from '../../kube/object.ts'
import { sameQuantity } from '../../kube/quantity.ts'
import { type FieldChange, fieldChanges, type Leaves, leavesOf } from '../../kube/field-changes.ts'
import type { VirtualMachine, VirtualMachineInstance } from '../../kube/kinds/kubevirt-kinds.ts'
import type { RolloutStrategy } from './rollout-strategy.ts'
import { valueAt } from '../../kube/server-side-apply.ts'

/** A field of a VM that is not as it was when the VM was last started. Paths begin at the spec of the VM. */
export interface StagedChange extends FieldChange {
  /**
   * `restart`: what the condition stands for. `frozen`: it would reach the running VM, but nothing does while the condition is set.
   * `next-start`: labels and annotations of the VMI, which ask for no restart.
   */
  waits: 'restart' | 'frozen' | 'next-start'
  /** What a `frozen` one is a hotplug of. */
  hotplug?: Hotplug
}

/** What is compared. */
interface StagedFrom {
  vm: VirtualMachine
  vmi: VirtualMachineInstance
  /** The spec of the VM at its last start, from its ControllerRevision. */
  started: unknown
  strategy: RolloutStrategy
  /** Of the condition RestartRequired. */
  message?: string | undefined
}

/**
 * Every difference between a VM and its last start, where KubeVirt tells only that there is one (facts 5, night W11). What was carried out
 * on the running VM is none. An instance type is compared by its name and revision, not by what it says. Pure.
 */
export function stagedChanges({ vm, vmi, started, strategy, message }: StagedFrom): readonly StagedChange[] {
  const { spec } = vm
  const running = leavesOf(comparableSpec({ template: { spec: vmi.spec } }))
  const wanted = leavesOf(comparableSpec(spec))
  const failed = failedHotplug(message)
  return fieldChanges(leavesOf(comparableSpec(started)), wanted)
    .filter((change) => !isSame(change))
    .flatMap((change): StagedChange[] => {
      if (change.path.startsWith('template.metadata.')) return [{ ...change, waits: 'next-start' }]
      const hotplug = hotplugOf(change.path, { started, now: spec, strategy })
      if (hotplug === undefined) return [{ ...change, waits: 'restart' }]
      if (isCarriedOut(change, running)) return []
      return [hotplug === failed ? { ...change, waits: 'restart' } : { ...change, waits: 'frozen', hotplug }]
    })
}

/** `1Gi` and `1024Mi` are the same memory. */
function isSame({ path, from, to }: FieldChange): boolean {
  return /\.(memory|resources)\./u.test(path) && sameQuantity(from, to)
}

function isCarriedOut({ path, to }: FieldChange, running: Leaves): boolean {
  return JSON.stringify(running[path]) === JSON.stringify(to) || sameQuantity(running[path], to)
}

/** The messages of virt-controller name what it could not change live: more sockets or memory than there is room for, or fewer. */
function failedHotplug(message = ''): Hotplug | undefined {
  if (/\bcpu|socket/iu.test(message)) return 'CPU'
  return /\bmemory/iu.test(message) ? 'memory' : undefined
}

/** Written out empty by KubeVirt's own programs, left out by people: both are the same to it. */
const sameAsAbsent = new Set([
  'metadata',
  'labels',
  'annotations',
  'resources',
  'requests',
  'limits',
  'devices',
  'nodeSelector',
])
/** No pointers in KubeVirt's types: false and 0 are the same as absent. */
const zeroIsAbsent = new Set([
  'hotpluggable',
  'readonly',
  'dedicatedCpuPlacement',
  'isolateEmulatorThread',
  'cores',
  'sockets',
  'threads',
])

/**
 * What of the spec of a VM a start takes over, in one way to write it: template, instance type and preference (facts 5). A revision name
 * is left out, for KubeVirt fills it in at the start. Pure.
 */
function comparableSpec(spec: unknown): unknown {
  if (!isRecord(spec)) return {}
  const { template, instancetype, preference } = spec
  const { metadata, spec: inner } = isRecord(template) ? template : {}
  const { labels, annotations } = isRecord(metadata) ? metadata : {}
  return pruned({
    instancetype: named(instancetype),
    preference: named(preference),
    template: { metadata: { labels, annotations }, spec: inner },
  })
}

function named(matcher: unknown): unknown {
  if (!isRecord(matcher)) return undefined
  const { revisionName: _, ...rest } = matcher
  return rest
}

function pruned(value: unknown, key = ''): unknown {
  if (isAbsent(value, key)) return undefined
  if (Array.isArray(value)) return value.map((element) => pruned(element))
  if (!isRecord(value)) return value
  const fields = Object.entries(value).flatMap(([name, inner]) => {
    const kept = pruned(inner, name)
    return kept === undefined ? [] : [[name, kept] as const]
  })
  return fields.length === 0 && sameAsAbsent.has(key) ? undefined : Object.fromEntries(fields)
}

function isAbsent(value: unknown, key: string): boolean {
  if (value === null || (Array.isArray(value) && value.length === 0)) return true
  return zeroIsAbsent.has(key) && (value === false || value === 0)
}

/** What can change on a running VM. */
export type Hotplug = 'CPU' | 'memory' | 'placement' | 'volumes' | 'networks'

interface Compared {
  started: unknown
  now: unknown
  strategy: RolloutStrategy
}

/** Only with LiveUpdate. */
const live: readonly (readonly [path: RegExp, hotplug: Hotplug])[] = [
  [/^template\.spec\.domain\.cpu\.sockets$/u, 'CPU'],
  [/^template\.spec\.domain\.memory\.guest$/u, 'memory'],
  [/^template\.spec\.(nodeSelector|affinity|tolerations)\b/u, 'placement'],
]
const inList =
  /^template\.spec\.(?:(?<volume>volumes|domain\.devices\.disks)|networks|domain\.devices\.interfaces)\[(?<name>[^\]]+)\]/u

/** What a change of this field is a hotplug of; undefined for what only a restart brings (facts 5, KubeVirt addRestartRequiredIfNeeded). */
function hotplugOf(path: string, compared: Compared): Hotplug | undefined {
  const known = live.find(([pattern]) => pattern.test(path))
  if (known) return compared.strategy === 'LiveUpdate' ? known[1] : undefined
  const { volume, name } = inList.exec(path)?.groups ?? {}
  if (name === undefined) return undefined
  if (volume === undefined) return isLiveNetwork(name, compared) ? 'networks' : undefined
  return isLiveVolume(name, compared) ? 'volumes' : undefined
}

/** Hotpluggable ones come and go; others can only be moved to another claim, where the VM asks for that. */
function isLiveVolume(name: string, { started, now }: Compared): boolean {
  const [before, after] = [started, now].map((spec) => elementOf(spec, ['volumes'], name))
  const sides = [before, after].filter((side) => side !== undefined)
  if (sides.length > 0 && sides.every(isHotpluggable)) return true
  const moves = valueAt(now, ['updateVolumesStrategy']) === 'Migration'
  return moves && sides.length === 2 && sides.every(isOnClaim)
}

const sourcesOf = (volume: unknown) => [
  valueAt(volume, ['persistentVolumeClaim']),
  valueAt(volume, ['dataVolume']),
]
const isOnClaim = (volume: unknown) => sourcesOf(volume).some(isRecord)
const isHotpluggable = (volume: unknown) =>
  sourcesOf(volume).some((source) => valueAt(source, ['hotpluggable']) === true)

/** A further network comes with its interface, and goes when its interface is said to be absent. */
function isLiveNetwork(name: string, { started, now }: Compared): boolean {
  const at = ['domain', 'devices', 'interfaces']
  const before = elementOf(started, at, name)
  const after = elementOf(now, at, name)
  const network = elementOf(now, ['networks'], name) ?? elementOf(started, ['networks'], name)
  if (valueAt(network, ['multus']) === undefined) return false
  return before === undefined || after === undefined || valueAt(after, ['state']) === 'absent'
}

function elementOf(spec: unknown, path: readonly string[], name: string): unknown {
  const list = valueAt(spec, ['template', 'spec', ...path])
  return Array.isArray(list) ? list.find((element) => valueAt(element, ['name']) === name) : undefined
}
