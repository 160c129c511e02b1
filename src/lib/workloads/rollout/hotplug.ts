import { isFields, valueAt } from '../../cluster/apply/field-path.ts'
import type { RolloutStrategy } from './vm-rollout.ts'

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
export function hotplugOf(path: string, compared: Compared): Hotplug | undefined {
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
const isOnClaim = (volume: unknown) => sourcesOf(volume).some(isFields)
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
