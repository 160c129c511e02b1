import type { Reader } from '../cluster/cluster.ts'
import {
  type VirtualMachine,
  type VirtualMachineInstance,
  VirtualMachineInstances,
  VirtualMachines,
} from '../cluster/kinds/virtual-machines.ts'
import { isNotFound } from '../system/errors.ts'
import { type Fate, fateOf } from './fate.ts'
import type { UpdateRules } from './outdated/rules.ts'

/** How many VMIs meet which fate, and by name those that would not simply migrate or stay. */
export interface Forecast {
  counts: Record<Fate, number>
  /** `namespace/name` of VMIs that are interrupted; at most 100 are named. */
  interrupted: readonly string[]
  /** VMIs that run this virt-launcher already: they cannot migrate back to an older one; at most 100 are named. */
  onLauncher: readonly string[]
  /** VMIs that are being moved off a drained node (`evacuationNodeName`); at most 100 are named. */
  evacuating: readonly string[]
}

const namedAtMost = 100

/** `launcher`: the image that VMIs are looked for on. */
export interface ForecastRules extends UpdateRules {
  launcher?: string | undefined
}

/** Folds page by page: nothing of a VMI that migrates or stays is kept. `labels` narrows to the outdated ones. */
export async function forecastUpdates(
  reader: Reader,
  rules: ForecastRules,
  labels?: string,
): Promise<Forecast> {
  const runStrategies = rules.methods.includes('Evict')
    ? await runStrategiesOf(reader)
    : new Map<string, string>()
  const counts: Forecast['counts'] = { migrates: 0, restarts: 0, 'shuts down': 0, 'is lost': 0, stays: 0 }
  const interrupted: string[] = []
  const evacuating: string[] = []
  const onLauncher: string[] = []
  for await (const vmi of running(reader, labels)) {
    const name = `${vmi.metadata.namespace}/${vmi.metadata.name}`
    const fate = fateOf(vmi, rules, runStrategies.get(name))
    counts[fate]++
    if (vmi.status?.evacuationNodeName) add(evacuating, name)
    if (isOn(vmi, rules.launcher)) add(onLauncher, name)
    if (fate !== 'migrates' && fate !== 'stays') add(interrupted, `${name} (${fate})`)
  }
  return { counts, interrupted, evacuating, onLauncher }
}

function add(names: string[], name: string): void {
  if (names.length < namedAtMost) names.push(name)
}

/**
 * How many VMIs with these labels the methods move, and how many they leave. Asks for no VM: whatever becomes of a VMI that
 * moves, it does not stay.
 */
export async function countMoving(
  reader: Reader,
  rules: UpdateRules,
  labels: string,
): Promise<{ moving: number; staying: number }> {
  const counts = { moving: 0, staying: 0 }
  for await (const vmi of running(reader, labels))
    counts[fateOf(vmi, rules, undefined) === 'stays' ? 'staying' : 'moving']++
  return counts
}

const isOn = ({ status }: VirtualMachineInstance, launcher: string | undefined): boolean =>
  launcher !== undefined && status?.launcherContainerImageVersion === launcher

/** `migrates 211, shuts down 3`; `moves nothing` when all stay or there are none. */
export function forecastText({ counts }: Forecast): string {
  const order: readonly Fate[] = ['migrates', 'restarts', 'shuts down', 'is lost']
  const parts = order.filter((fate) => counts[fate] > 0).map((fate) => `${fate} ${counts[fate]}`)
  const stays = counts.stays > 0 ? [`leaves ${counts.stays} outdated`] : []
  return parts.length + stays.length === 0 ? 'moves nothing' : [...parts, ...stays].join(', ')
}

async function* running(reader: Reader, labels: string | undefined): AsyncIterable<VirtualMachineInstance> {
  try {
    for await (const page of reader.pages(VirtualMachineInstances, labels === undefined ? {} : { labels }))
      yield* page.items.filter((vmi) => vmi.status?.phase === 'Running')
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

async function runStrategiesOf(reader: Reader): Promise<Map<string, string>> {
  const strategies = new Map<string, string>()
  for await (const page of reader.pages(VirtualMachines))
    for (const vm of page.items)
      strategies.set(`${vm.metadata.namespace}/${vm.metadata.name}`, strategyOf(vm))
  return strategies
}

/** `running: true` counts as Always (night W1). */
function strategyOf({ spec }: VirtualMachine): string {
  return spec?.runStrategy ?? (spec?.running === true ? 'Always' : 'Halted')
}
