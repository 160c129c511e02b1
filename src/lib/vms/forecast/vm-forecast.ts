import { type Reader, type Where, orUnserved } from '../../kube/cluster.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'
import {
  type KubeVirt,
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../kube/kinds/kubevirt-kinds.ts'
import { parseImage } from '../../kubevirt/installation.ts'
import { versionOf } from '../../releases/release-versions.ts'
import { outdatedOnes } from '../../kubevirt/snapshot.ts'
import { clusterEvictionOf, isOfVm, lostData, placeBehind, restartLine, type Vm, vmName, Vms } from '../vm.ts'
import {
  decisionOf,
  isAlone,
  isMigrating,
  moves,
  type OutcomeCounts,
  outcomeOf,
  type OutlookRules,
  takesRestart,
  type UpdateRules,
  type VmOutcome,
} from '../workload-updater.ts'
import {
  migrationSpan,
  type MigrationSpeed,
  policyFor,
  type Span,
  speedBy,
  speedOf,
} from './migration-time.ts'
import { forbiddenBy, nodesIn, readRoom, refusedBy, type Room } from './cluster-room.ts'
import { counted } from '../../kube/text.ts'
import { type HopFinding, blocker } from '../../releases/hop-findings.ts'
import { type Outlook, outlookOf, type Reason, reason } from '../vm-outlook.ts'
import { condition } from '../../kube/object.ts'
import { demandOf, domainOf, placeFor, refusalsText, startDemandOf } from './launcher-placement.ts'
import { JointPlacement } from './joint-placement.ts'
import { migrationLimits } from '../migrations/migration.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { whyUnknown } from '../../kube/known.ts'
import { keptByKubeVirt, MigrationLedger } from '../migrations/migration-ledger.ts'
import { countLivingLaunchers } from '../migrations/migration-snapshot.ts'

/** How many VMIs meet which fate, and by name those that would not simply migrate or stay. */
export interface Forecast {
  counts: OutcomeCounts
  /** `namespace/name` of VMIs that are interrupted; at most 100 are named. */
  interrupted: readonly string[]
  /** VMIs that run this virt-launcher already: they cannot migrate back to an older one; at most 100 are named. */
  onLauncher: readonly string[]
  /** VMIs that are being moved off a drained node (`evacuationNodeName`); at most 100 are named. */
  evacuating: readonly string[]
  /** The counts are upper limits: a VMI runs a virt-launcher of the wanted version already. KubeVirt compares images, and which one the target brings is not known. */
  upTo?: boolean
}

const namedAtMost = 100

/** What is forecast: these methods on this KubeVirt. */
interface ForecastQuestion {
  kubevirt: KubeVirt
  methods: readonly string[]
  /** The image that VMIs are looked for on. */
  launcher?: string | undefined
  /** The version whose virt-launcher they are to run; default: what is installed. */
  installs?: string | undefined
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
  const vmCache = new Vms(reader)
  const found: Found = { counts: noneOf(), interrupted: [], evacuating: [], onLauncher: [] }
  let judging: Judging | undefined
  const waiting: VirtualMachineInstance[] = []
  for await (const vmis of running(reader, where)) {
    if (vmis.length === 0) continue
    judging ??= await judgingOf(reader, question)
    const items = await judgePage(vmis, { reader, vmCache }, judging)
    for (const [i, vmi] of vmis.entries())
      if (judging.joint?.isDeferred(vmi.metadata.uid ?? '')) waiting.push(vmi)
      else take(found, { vmi, outcome: items[i]?.outcome }, question)
  }
  if (judging === undefined || waiting.length === 0) return found
  await judging.joint?.settle()
  const items = await judgePage(waiting, { reader, vmCache }, judging)
  waiting.forEach((vmi, i) => take(found, { vmi, outcome: items[i]?.outcome }, question))
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

async function judgingOf(
  reader: Reader,
  { kubevirt, methods, nodes, installs = kubevirt.status?.observedKubeVirtVersion }: ForecastQuestion,
): Promise<Judging> {
  const room = await readRoom(reader, kubevirt, nodes)
  const rules = { methods, clusterEviction: clusterEvictionOf(kubevirt), installs, ...nodesIn(room) }
  return { rules, room, speed: speedOf(kubevirt), ...jointly(room, kubevirt) }
}

function take(
  found: Found,
  { vmi, outcome }: { vmi: VirtualMachineInstance; outcome: Outcome | undefined },
  { launcher, installs }: Pick<ForecastQuestion, 'launcher' | 'installs'>,
): void {
  const name = vmName(vmi)
  if (runsVersion(vmi, installs)) found.upTo = true
  if (vmi.status?.evacuationNodeName) add(found.evacuating, name)
  if (isOn(vmi, launcher)) add(found.onLauncher, name)
  if (outcome === undefined || outcome === 'is down') return
  found.counts[outcome] = (found.counts[outcome] ?? 0) + 1
  if (outcome !== 'migrates' && outcome !== 'restart' && outcome !== 'stays')
    add(found.interrupted, `${name} (${outcome})`)
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
  const stays: readonly VmOutcome[] = isAlone(rules) ? ['stays', 'restart', 'migrates'] : ['stays', 'restart']
  const moving = new Map<string, string>()
  let staying = 0
  for await (const vmis of running(reader, outdatedOnes))
    for (const vmi of vmis)
      if (stays.includes(outcomeOf(vmi, rules, undefined))) staying++
      else moving.set(vmName(vmi), vmi.metadata.uid ?? '')
  return { moving, staying }
}

/** By the tag of its virt-launcher; one that is pinned to a digest has none. */
function runsVersion({ status }: VirtualMachineInstance, wanted: string | undefined): boolean {
  const tag = versionOf(parseImage(status?.launcherContainerImageVersion ?? '').tag)
  return tag !== undefined && tag.text === versionOf(wanted)?.text
}

const isOn = ({ status }: VirtualMachineInstance, launcher: string | undefined): boolean =>
  launcher !== undefined && status?.launcherContainerImageVersion === launcher

/** What {@link forecastText} says of a forecast in which no VM moves and none is outdated. */
const nothingMoves = 'moves nothing'

/**
 * `migrates 211 VMs, shuts down 3`; {@link nothingMoves} when all stay or there are none. `upTo`: some of them may have the new virt-launcher already, so that the counts are upper limits:
 * `migrates up to 211 VMs`.
 */
export function forecastText(forecast: Forecast, { upTo = forecast.upTo ?? false } = {}): string {
  const { counts } = forecast
  const order: readonly VmOutcome[] = ['migrates', 'restarts', 'shuts down', 'is lost']
  const parts: readonly (readonly [act: string, vms: number, end: string])[] = [
    ...order.map((outcome) => [outcome, counts[outcome] ?? 0, ''] as const),
    ['leaves', counts.restart ?? 0, ' for you to restart'],
    ['leaves', counts.stays, ' outdated'],
  ]
  const some = parts.filter(([, vms]) => vms > 0)
  const limit = upTo ? 'up to ' : ''
  const said = some.map(
    ([act, vms, end], at) => `${act} ${limit}${at === 0 ? counted(vms, 'VM') : vms}${end}`,
  )
  return said.length === 0 ? nothingMoves : said.join(', ')
}

async function* running(reader: Reader, where: Where): AsyncGenerator<readonly VirtualMachineInstance[]> {
  for await (const page of orUnserved(reader.pages(VirtualMachineInstances, where)))
    yield page.items.filter((vmi) => vmi.status?.phase === 'Running')
}

/** Giving Evict back interrupts VMs: that is accepted by name, not by --yes (contract "Temporary changes"). */
export function evictionFinding(
  methods: readonly string[],
  forecast: Forecast,
  remedy: readonly string[] = [],
): readonly HopFinding[] {
  if (!methods.includes('Evict') || forecast.interrupted.length === 0) return []
  return blocker({
    id: 'evictions',
    summary: `Evict is among workloadUpdateMethods: when automatic VM updates resume, KubeVirt ${forecastText(forecast)}`,
    objects: forecast.interrupted.slice(0, 20),
    remedy,
  })
}

/**
 * After a downgrade: KubeVirt would migrate what only a restart takes back, fail, and begin again without end (going back, facts 2.5). Resuming updates is accepted by name then.
 */
function newerLaunchersFinding(methods: readonly string[], { counts }: Forecast): readonly HopFinding[] {
  const { restart = 0 } = counts
  if (!methods.includes('LiveMigrate') || restart === 0) return []
  return blocker({
    id: 'newer-launchers',
    summary: `${counted(restart, 'VM', ['runs', 'run'])} a newer virt-launcher than KubeVirt: with automatic VM updates KubeVirt forever retries to migrate ${restart === 1 ? 'it' : 'each'} to the older one, and fails`,
    remedy: ['kvup workloads outdated     lists them, and the line that restarts them'],
  })
}

/** What stands against resuming automatic VM updates with these methods: what `kvup workloads resume-updates` refuses for, and all that offers that line asks here first. */
export const resumingFindings = (
  methods: readonly string[],
  forecast: Forecast,
  instead?: readonly string[],
): readonly HopFinding[] => [
  ...evictionFinding(methods, forecast, instead),
  ...newerLaunchersFinding(methods, forecast),
]

/** What these methods do with what is outdated already. */
export const forecastOutdated = (
  reader: Reader,
  kubevirt: KubeVirt,
  methods: readonly string[],
): Promise<Forecast> => forecastUpdates(reader, { kubevirt, methods }, outdatedOnes)

/** What becomes of a VM; `is down`: it does not run, and gets the new virt-launcher when it is started. */
export type Outcome = VmOutcome | 'is down'

export const outcomes: readonly Outcome[] = [
  'migrates',
  'restarts',
  'shuts down',
  'is lost',
  'restart',
  'stays',
  'is down',
]

/** One VM, as a row and as an item of the document. */
export interface ForecastItem {
  namespace: string
  name: string
  /** Of the VMI. Absent: none runs. */
  uid?: string
  node?: string
  /** The image that it runs. */
  launcher?: string
  /** Absent: the methods may not be read. */
  outcome?: Outcome
  /** The first one decides. */
  why: readonly Reason[]
  /** Volumes whose content goes with its pod. */
  loses: readonly string[]
  remedy: readonly string[]
  /** How long its migration takes, in seconds. */
  seconds?: Span
}

/** What is said of a VMI whatever becomes of it. */
export function plainItem({ metadata, status }: VirtualMachineInstance): ForecastItem {
  const image = status?.launcherContainerImageVersion
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    ...(metadata.uid && { uid: metadata.uid }),
    ...(status?.nodeName && { node: status.nodeName }),
    ...(image && { launcher: image }),
    why: [],
    loses: [],
    remedy: [],
  }
}

interface Asking {
  reader: Reader
  /** Where it may not read VMs, it says so afterwards. */
  vmCache: Vms
}

/** The items of these VMIs, in the same order; VMs, pods and migrations are asked for only where they decide. Throws ApiError but 403. */
export async function judgePage(
  vmis: readonly VirtualMachineInstance[],
  { reader, vmCache }: Asking,
  judging: Judging,
): Promise<ForecastItem[]> {
  const asked = vmis.filter((vmi) => dependsOnVm(vmi, judging))
  const [vms, beside] = await Promise.all([vmCache.behind(asked.map(placeBehind)), readContext(reader, vmis)])
  const items: ForecastItem[] = []
  for (const vmi of vmis) {
    const { namespace, name } = placeBehind(vmi)
    const rules = { ...judging.rules, vmsUnread: vmCache.unread.has(namespace) }
    const vm = vms.get(`${namespace}/${name}`)
    items.push(await judge(vmi, vm, { ...judging, rules }, beside.get(vmi.metadata.uid ?? '') ?? {}))
  }
  return items
}

/** What its VM says changes nothing for those that migrate, where they do. */
function dependsOnVm(vmi: VirtualMachineInstance, { rules }: Judging): boolean {
  const decision = decisionOf(vmi, rules)
  return isOfVm(vmi) && (!moves.has(decision) || takesRestart(vmi, decision, rules))
}

/** What every VM is judged by. */
export interface Judging {
  rules: OutlookRules
  room: Room
  speed: MigrationSpeed
  /** Places them together; without it each VM is judged as if it were alone. */
  joint?: JointPlacement | undefined
}

/** With room that VMs take from each other, where nodes may be read. */
export const jointly = (room: Room, kubevirt: KubeVirt): Pick<Judging, 'joint'> =>
  room.places === undefined
    ? {}
    : {
        joint: new JointPlacement(
          { places: room.places, neighbours: room.neighbours },
          migrationLimits(kubevirt),
        ),
      }

/** One VMI: what the methods make of it (facts 3.5), and whether what they would do can be done. Throws ApiError. */
export async function judge(
  vmi: VirtualMachineInstance,
  vm: Vm | undefined,
  judging: Judging,
  beside: ForecastContext,
): Promise<ForecastItem> {
  const outlook = outlookOf(vmi, vm, judging.rules)
  const { outcome, why, loses, remedy } = await hindered(vmi, outlook, judging, beside)
  const item: ForecastItem = {
    ...plainItem(vmi),
    outcome: outcome,
    why: [...why, ...asides(vmi, outcome)],
    loses,
    remedy,
  }
  if (outcome !== 'migrates') return item
  return {
    ...item,
    seconds: migrationSpan(vmi, speedBy(policyFor(vmi, judging.room.policies), judging.speed)),
  }
}

async function hindered(
  vmi: VirtualMachineInstance,
  outlook: Outlook,
  judging: Pick<Judging, 'room' | 'joint'>,
  beside: ForecastContext,
): Promise<Outlook> {
  const { room } = judging
  const { outcome, why } = outlook
  if (outcome === 'stays' || outcome === 'restart') return outlook
  if (why[0]?.id === 'migrating') return staysFor(outlook, failsEveryTime(vmi, beside))
  if (outcome === 'migrates') return staysFor(outlook, await obstacleToMigration(vmi, judging, beside))
  const forbidden = obstacleToEviction(vmi, room)
  if (forbidden !== undefined || outcome !== 'restarts') return staysFor(outlook, forbidden)
  const gone = await obstacleToReturn(vmi, judging)
  return gone === undefined
    ? outlook
    : { ...outlook, outcome: 'shuts down', why: [...why, gone.why], remedy: gone.remedy }
}

function staysFor(outlook: Outlook, obstacle: Obstacle | undefined): Outlook {
  if (obstacle === undefined) return outlook
  const [decided, ...rest] = outlook.why
  const kept = rest.filter(({ id }) => id === 'old-launcher' || id === 'no-way-back')
  return {
    outcome: 'stays',
    why: [obstacle.why, ...(decided ? [decided] : []), ...kept],
    loses: outlook.loses,
    remedy: obstacle.remedy,
  }
}

const changes = ['HotVCPUChange', 'HotMemoryChange', 'VolumesChange', 'MigrationRequired']
/** Names of migration pods and labels made of longer ones may be refused. */
const nameAtMost = 47

/** What has to be known besides, and decides nothing. */
function asides(vmi: VirtualMachineInstance, outcome: Outlook['outcome']): readonly Reason[] {
  const willMove = outcome === 'migrates'
  const pending = changes.find((type) => condition(vmi, type)?.status === 'True')
  const restart = condition(vmi, 'RestartRequired')?.status === 'True'
  const long = willMove && vmi.metadata.name.length > nameAtMost
  return [
    ...(pending
      ? [reason('pending-change', `${pending} waits for ${willMove ? 'this migration' : 'a migration'}`)]
      : []),
    ...(restart ? [reason('restart-required', 'a change of it waits for a restart')] : []),
    ...(long
      ? [
          reason(
            'long-name',
            `its name is longer than ${nameAtMost} characters: labels made of it may be too long`,
          ),
        ]
      : []),
    ...(willMove && domainOf(vmi).cpu?.dedicatedCpuPlacement
      ? [reason('dedicated-cpus', 'needs as many free dedicated CPUs on the other node')]
      : []),
  ]
}

/** What is in the way of what the methods would do, and the command that shows it. */
interface Obstacle {
  why: Reason
  remedy: readonly string[]
}

/** What is known of one VMI by asking for its pods and migrations. */
export interface ForecastContext {
  /** Launcher pods that have not ended. */
  pods?: number | undefined
  /** Migrations in a row that failed, all that are kept. */
  endless?: { times: number; reason?: string } | undefined
}

/** Why its migration would never end well; undefined: nothing is known that is in the way. Throws ApiError. */
async function obstacleToMigration(
  vmi: VirtualMachineInstance,
  judging: Pick<Judging, 'room' | 'joint'>,
  beside: ForecastContext,
): Promise<Obstacle | undefined> {
  return (
    twoLaunchers(vmi, beside) ??
    failsEveryTime(vmi, beside) ??
    quotaRefuses(vmi, judging.room) ??
    (await noNode(vmi, judging, false))
  )
}

/** Why its pod would never be evicted. Pure. */
function obstacleToEviction(vmi: VirtualMachineInstance, { budgets }: Room): Obstacle | undefined {
  const budget = budgets && forbiddenBy(budgets, vmi)
  if (budget === undefined) return undefined
  const { namespace = '' } = vmi.metadata
  return {
    why: reason('budget', `PodDisruptionBudget ${budget} allows no eviction now`),
    remedy: [`kubectl -n ${shellWord(namespace)} get poddisruptionbudget ${shellWord(budget)}`],
  }
}

/** Why it would not find a node once its pod has ended. Throws ApiError. */
const obstacleToReturn = async (
  vmi: VirtualMachineInstance,
  judging: Pick<Judging, 'room' | 'joint'>,
): Promise<Obstacle | undefined> => noNode(vmi, judging, true)

/** KubeVirt waits while there are two pods (facts 3.3). */
function twoLaunchers(
  { metadata }: VirtualMachineInstance,
  { pods = 0 }: ForecastContext,
): Obstacle | undefined {
  if (pods < 2) return undefined
  const why = `${pods} launcher pods of it are alive without a migration: KubeVirt waits`
  const uid = metadata.uid ?? ''
  return {
    why: reason('two-launchers', why),
    remedy: [`kubectl -n ${placeOf(metadata)} get pods -l kubevirt.io/created-by=${uid}`],
  }
}

/** What fails is repeated without end (facts 3.3): true too of the one that is under way. Pure. */
function failsEveryTime(vmi: VirtualMachineInstance, { endless }: ForecastContext): Obstacle | undefined {
  if (endless === undefined) return undefined
  const [name, place] = [shellWord(vmi.metadata.name), placeOf(vmi.metadata)]
  const because = endless.reason === undefined ? '' : `: ${endless.reason}`
  return {
    why: reason('fails-every-time', `its last ${endless.times} migrations failed${because}`),
    remedy: [
      `kubectl -n ${place} describe vmi ${name}`,
      restartLine({ namespace: vmi.metadata.namespace ?? '', name: vmi.metadata.name }, lostData(vmi)),
    ],
  }
}

const placeOf = ({ namespace = '' }: VirtualMachineInstance['metadata']): string => shellWord(namespace)

function quotaRefuses(vmi: VirtualMachineInstance, { quotas, sharing }: Room): Obstacle | undefined {
  const { namespace = '' } = vmi.metadata
  if (!quotas?.has(namespace)) return undefined
  const quota = refusedBy(quotas, namespace, demandOf(vmi, sharing, undefined).resources)
  if (quota === undefined) return undefined
  return {
    why: reason('quota', `ResourceQuota ${quota} has no room for the second pod`),
    remedy: [`kubectl -n ${shellWord(namespace)} get resourcequotas`],
  }
}

async function noNode(
  vmi: VirtualMachineInstance,
  { room: { places, neighbours, sharing }, joint }: Pick<Judging, 'room' | 'joint'>,
  again: boolean,
): Promise<Obstacle | undefined> {
  if (places === undefined) return undefined
  const from = vmi.status?.nodeName
  const demand = again ? startDemandOf(vmi, sharing, places) : demandOf(vmi, sharing, places.labelsOf(from))
  const move = { from, again, uid: vmi.metadata.uid ?? '' }
  const found = await (joint?.place(demand, move) ?? placeFor(demand, { places, neighbours }, move))
  if ('node' in found) return undefined
  const others = again ? 'no node takes it again' : 'no other node takes it'
  return {
    why: reason(again ? 'no-node-again' : 'no-node', `${others}: ${refusalsText(found.refusals)}`),
    remedy: ['kubectl get nodes -L kubevirt.io/schedulable'],
  }
}

/**
 * Asks only for those where there may be something: pods of VMIs with two active ones (a stale entry is common, lab "Seen with workloads" 9),
 * migrations of VMIs whose last one failed. By uid; what may not be read is not in it. Throws ApiError but 403.
 */
async function readContext(
  reader: Reader,
  vmis: readonly VirtualMachineInstance[],
): Promise<ReadonlyMap<string, ForecastContext>> {
  const found = new Map<string, ForecastContext>()
  const [living] = await Promise.all([
    livingPods(reader, vmis),
    ...vmis.filter(hasFailed).map(async (vmi) => {
      const endless = await endlessFailures(reader, vmi)
      if (endless !== undefined) found.set(vmi.metadata.uid ?? '', { endless })
    }),
  ])
  for (const [uid, pods] of living) found.set(uid, { ...found.get(uid), pods })
  return found
}

async function livingPods(
  reader: Reader,
  vmis: readonly VirtualMachineInstance[],
): Promise<ReadonlyMap<string, number>> {
  const two = vmis.filter((vmi) => Object.keys(vmi.status?.activePods ?? {}).length > 1 && !isMigrating(vmi))
  const refs = two.flatMap(({ metadata: { uid, namespace = '' } }) =>
    uid === undefined ? [] : [{ uid, namespace }],
  )
  return ifKnown(countLivingLaunchers(reader, refs), new Map())
}

const hasFailed = ({ status }: VirtualMachineInstance): boolean => status?.migrationState?.failed === true

async function endlessFailures(
  reader: Reader,
  { metadata }: VirtualMachineInstance,
): Promise<ForecastContext['endless']> {
  const { name, namespace = '' } = metadata
  const ledger = new MigrationLedger()
  const all = reader.list(VirtualMachineInstanceMigrations, {
    namespace,
    labels: `kubevirt.io/vmi-name=${name}`,
  })
  for (const object of await ifKnown(all, [])) ledger.add(object)
  const { failures } = ledger.pastOf(`${namespace}/${name}`)
  if (failures.length < keptByKubeVirt) return undefined
  const why = failures[0]?.failureReason
  return { times: failures.length, ...(why !== undefined && { reason: why }) }
}

async function ifKnown<T>(work: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (whyUnknown(error) === undefined) throw error
    return otherwise
  }
}
