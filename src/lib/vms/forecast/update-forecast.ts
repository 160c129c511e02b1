import type { Reader, Where } from '../../kube/cluster.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'
import {
  type KubeVirt,
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { outdatedOnes } from '../../kubevirt/vm-tally.ts'
import { isNotFound } from '../../kube/errors.ts'
import { clusterEvictionOf, Machines, vmName } from '../vm.ts'
import { type Fate, fateOf } from '../workload-updater.ts'
import { judgePage, type Judging, type Outcome } from './vm-forecast.ts'
import { speedOf } from './migration-time.ts'
import { nodesIn, readRoom } from './cluster-room.ts'
import { isAlone, type UpdateRules } from '../updater-snapshot.ts'
import type { HopFinding } from '../../releases/hop-findings.ts'

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

/** What is forecast: these methods on this KubeVirt. */
interface ForecastQuestion {
  kubevirt: KubeVirt
  methods: readonly string[]
  /** The image that VMIs are looked for on. */
  launcher?: string | undefined
  /** All of them, where they were read already. */
  nodes?: readonly Node[] | undefined
}

/**
 * By the judgement of `kvup workloads forecast`, so that both say the same of a VM. Folds page by page: nothing of a VMI that migrates or
 * stays is kept. `where` narrows to the outdated ones. What else decides is read only where there is a VMI. Throws ApiError.
 */
export async function forecastUpdates(
  reader: Reader,
  question: ForecastQuestion,
  where: Where = {},
): Promise<Forecast> {
  const machines = new Machines(reader)
  const found: Found = { counts: noneOf(), interrupted: [], evacuating: [], onLauncher: [] }
  let judging: Judging | undefined
  for await (const vmis of running(reader, where)) {
    if (vmis.length === 0) continue
    judging ??= await judgingOf(reader, question)
    const items = await judgePage(vmis, { reader, machines }, judging)
    vmis.forEach((vmi, i) => take(found, { vmi, will: items[i]?.will }, question.launcher))
  }
  return found
}

interface Found extends Forecast {
  interrupted: string[]
  onLauncher: string[]
  evacuating: string[]
}

const noneOf = (): Forecast['counts'] => ({
  migrates: 0,
  restarts: 0,
  'shuts down': 0,
  'is lost': 0,
  stays: 0,
})

async function judgingOf(reader: Reader, { kubevirt, methods, nodes }: ForecastQuestion): Promise<Judging> {
  const room = await readRoom(reader, kubevirt, nodes)
  const rules = { methods, clusterEviction: clusterEvictionOf(kubevirt), ...nodesIn(room) }
  return { rules, room, speed: speedOf(kubevirt) }
}

interface Judged {
  vmi: VirtualMachineInstance
  will: Outcome | undefined
}

function take(found: Found, { vmi, will }: Judged, launcher: string | undefined): void {
  const name = vmName(vmi)
  if (vmi.status?.evacuationNodeName) add(found.evacuating, name)
  if (isOn(vmi, launcher)) add(found.onLauncher, name)
  if (will === undefined || will === 'is down') return
  found.counts[will]++
  if (will !== 'migrates' && will !== 'stays') add(found.interrupted, `${name} (${will})`)
}

function add(names: string[], name: string): void {
  if (names.length < namedAtMost) names.push(name)
}

/** VMIs that the methods move, and how many they leave. */
interface Moving {
  /** uid by `namespace/name`. */
  moving: ReadonlyMap<string, string>
  staying: number
}

/** Of the outdated ones. Asks for no VM: whatever becomes of a VMI that moves, it does not stay. */
export async function countMoving(reader: Reader, rules: UpdateRules & { nodes?: number }): Promise<Moving> {
  const stays: readonly Fate[] = isAlone(rules) ? ['stays', 'migrates'] : ['stays']
  const moving = new Map<string, string>()
  let staying = 0
  for await (const vmis of running(reader, outdatedOnes))
    for (const vmi of vmis)
      if (stays.includes(fateOf(vmi, rules, undefined))) staying++
      else moving.set(vmName(vmi), vmi.metadata.uid ?? '')
  return { moving, staying }
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

async function* running(reader: Reader, where: Where): AsyncGenerator<readonly VirtualMachineInstance[]> {
  try {
    for await (const page of reader.pages(VirtualMachineInstances, where))
      yield page.items.filter((vmi) => vmi.status?.phase === 'Running')
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Giving Evict back interrupts VMs: that is accepted by name, not by --yes (contract "Loans"). */
export function evictionFinding(methods: readonly string[], forecast: Forecast): readonly HopFinding[] {
  if (!methods.includes('Evict') || forecast.interrupted.length === 0) return []
  return [
    {
      id: 'evictions',
      level: 'blocker',
      summary: `Evict is among the workload update methods; once they apply to the new version, KubeVirt ${forecastText(forecast)}`,
      objects: forecast.interrupted.slice(0, 20),
      remedy: ['kvup upgrade --leave-held ends before the methods are given back'],
    },
  ]
}

/** What these methods do with what is outdated already. */
export function forecastOutdated(
  reader: Reader,
  kubevirt: KubeVirt,
  methods: readonly string[],
): Promise<Forecast> {
  return forecastUpdates(reader, { kubevirt, methods }, outdatedOnes)
}
