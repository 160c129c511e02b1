import {
  type Found,
  hopPath,
  instancesOf,
  isPausedByKvup,
  lacksVersion,
  type Question,
  checksOf,
  hopOf,
  type Check,
  affected,
  concerned,
} from '../check-definition.ts'
import { enters, issuesOf, reaches } from '../../releases/release-path.ts'
import { atLeast } from './node-checks.ts'
import { traitNames } from '../../kubevirt/vm-traits.ts'
import { counted, someOf } from '../../kube/text.ts'
import type { ResourceQuota } from '../../kubevirt/full-snapshot.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'
import { setField } from '../field-remedy.ts'
import { configuredValue, gatesOf, parseImage } from '../../kubevirt/installation.ts'
import { itemsOf } from '../../kube/known.ts'
import { allReleases, type KnownBad, type Releases } from '../../releases/releases.ts'
import {
  compareVersions,
  isBefore,
  minorOf,
  type Version,
  versionOf,
} from '../../releases/release-versions.ts'
import { cpuModelLabel, type InstanceTally, type PlacedVms } from '../../kubevirt/snapshot.ts'
import { isNodeReady } from '../../kubevirt/component-status.ts'
import { launcherImage } from '../../kubevirt/lease-holders.ts'
import { quantity } from '../../kube/quantity.ts'
import type { BlockingBudget } from '../../kubevirt/blocking-budgets.ts'
import { shellWord } from '../../kube/shell-line.ts'

const workloadCheck = checksOf('workloads')

/** One VM that runs twice damages its disk; an entry may also be a stale one (facts 8: #15373, #18670, #12773). */
export const twoLaunchers = workloadCheck('two-launchers', {
  title: 'no VM has two virt-launchers without a migration',
  unchecked: 'VMs with two virt-launchers were not looked for',
  needs: ['instances'],
  blocks: true,
  assess(question) {
    const { count, names } = instancesOf(question).twoLaunchers
    const [first = ''] = names
    if (count === 0) return undefined
    const [namespace = '', name = ''] = first.split('/')
    return {
      level: 'blocker',
      summary: `${counted(count, 'VM', ['has', 'have'])} two active virt-launcher pods and no migration (${someOf(names, count)}): a VM that runs twice damages its disk`,
      objects: names,
      remedy: [
        `kubectl -n ${namespace} get pods -l kubevirt.io=virt-launcher -o wide`,
        `kubectl -n ${namespace} get virtualmachineinstance ${name} -o jsonpath='{.status.activePods}'`,
      ],
    }
  },
})

interface Launcher {
  image: string
  count: number
  /** Undefined: a digest that is not the one in use now. */
  version: Version | undefined
  /** A migration or a restart gives the same one again. */
  inUse: boolean
}

/** Upstream tests migrations from the minor before only (night C1). */
export const launcherAge = workloadCheck('launcher-age', {
  title: 'no VM runs on a virt-launcher two minors or a year before the target',
  unchecked: 'the age of virt-launchers was not checked',
  needs: ['instances', 'deployments'],
  needsTarget: true,
  lacks(question) {
    const { running, launchers } = instancesOf(question)
    const told = Object.values(launchers).reduce((sum, count) => sum + count, 0)
    return told >= running
      ? undefined
      : `${counted(running - told, 'running VM', ['does', 'do'])} not name a virt-launcher`
  },
  assess(question) {
    const launchers = launchersOf(question)
    const outdated = launchers.filter(({ inUse }) => !inUse)
    const installed = launchers.filter(({ inUse }) => inUse)
    return [
      tooOld(outdated, question, renewed(question)),
      tooOld(installed, question, throughReleases(question)),
      untold(launchers.filter(({ version }) => !version)),
    ]
  },
})

function launchersOf(question: Question): readonly Launcher[] {
  const now = launcherImage(question.snapshot)
  const { version } = question.rolloutStatus.observed
  return Object.entries(instancesOf(question).launchers).map(([image, count]) => ({
    image,
    count,
    version: versionOf(image === now ? version : parseImage(image).tag),
    inUse: image === now,
  }))
}

/** Of whom nobody knows the launcher it is told as if it were the installed one; a digest of another one may be any. */
export function onOldLaunchers(
  { launchersBefore = '', hits, kernel }: KnownBad,
  hop: { from: Version; to: Version },
  question: Question,
): ReturnType<typeof concerned> {
  const { nodes, instances } = question.snapshot
  const kernels = itemsOf(nodes).map(({ status }) => status?.nodeInfo?.kernelVersion)
  if (kernel !== undefined && kernels.length > 0 && kernels.every((one) => atLeast(one, kernel) === false))
    return undefined
  const isEntered = enters(hop, launchersBefore)
  if (!instances.known)
    return isEntered ? concerned({ ...(hits !== undefined && { hits }) }, question) : undefined
  const trait = traitNames.find((name) => name === hits)
  const old = launchersOf(question).filter(({ version, inUse }) =>
    version === undefined ? isEntered || !inUse : !reaches(version, launchersBefore),
  )
  const images = [...old.map(({ image }) => image), ...(isEntered ? [''] : [])]
  const found = images.flatMap((image) => (trait && instancesOf(question).traitsOn[image]?.[trait]) ?? [])
  const count = found.reduce((sum, one) => sum + one.count, 0)
  const names = found.flatMap((one) => one.names)
  return count === 0 ? undefined : affected({ count, names: names.slice(0, 100) })
}

interface LauncherHint {
  sentence: string
  remedy: (images: readonly string[]) => readonly string[]
}

const renewed = (question: Question): LauncherHint => ({
  sentence: `${failingMigrations(question).length > 0 ? 'restart' : 'migrate or restart'} them before the upgrade`,
  remedy: listByLauncher,
})

/** Ids of issues that make migrations out of launchers fail that VMs run on. */
function failingMigrations(question: Question): readonly string[] {
  const hop = hopOf(question)
  if (hop === undefined) return []
  const issues = issuesOf(hop, question.releases).filter(({ launchersBefore }) => launchersBefore)
  return issues.filter((bad) => onOldLaunchers(bad, hop, question)).map(({ id }) => id)
}

function throughReleases(question: Question): LauncherHint {
  const failing = failingMigrations(question)
  if (failing.length > 0)
    return {
      sentence: `it is the installed one, and migrations from it may fail (${failing.join(', ')})`,
      remedy: () => ['keep automatic VM updates paused, and restart each VM after the upgrade'],
    }
  return {
    sentence: 'it is the installed one, so upgrade over the releases in between',
    remedy: () => (question.target ? hopPath(question.target, question) : []),
  }
}

function tooOld(
  launchers: readonly Launcher[],
  { target, releases }: Question,
  { sentence, remedy }: LauncherHint,
): Found | undefined {
  if (!target) return undefined
  const old = launchers.filter(({ version }) => version && isTooOld(version, target, releases))
  if (old.length === 0) return undefined
  const total = old.reduce((sum, { count }) => sum + count, 0)
  const images = old.map(({ image }) => image)
  return {
    level: 'warning',
    summary: `${counted(total, 'VM', ['runs', 'run'])} on a virt-launcher too old to reliably migrate to ${target.text}: ${someOf(old.map(said))}; ${sentence}`,
    objects: images,
    remedy: remedy(images),
  }
}

const said = ({ count, version }: Launcher): string => `${version?.text} under ${counted(count, 'VM')}`

function isTooOld(version: Version, target: Version, releases: Releases): boolean {
  return minorsBetween(version, target, releases) > 1 || isYearBefore(version, target, releases)
}

/** Across a major version the minors that are known are counted. */
function minorsBetween(from: Version, to: Version, releases: Releases): number {
  if (from.major === to.major) return to.minor - from.minor
  const minors = [...new Set(allReleases(releases).map(minorOf))]
  const [a, b] = [minors.indexOf(minorOf(from)), minors.indexOf(minorOf(to))]
  return a < 0 || b < 0 ? Number.POSITIVE_INFINITY : b - a
}

function isYearBefore(version: Version, target: Version, releases: Releases): boolean {
  const [from, to] = [dayOf(version, releases), dayOf(target, releases)]
  return from !== undefined && to !== undefined && to - from > 365 * 86_400_000
}

function dayOf(version: Version, { minors }: Releases): number | undefined {
  const day = minors[minorOf(version)]?.releases[version.text]
  return day === undefined ? undefined : Date.parse(day)
}

function untold(launchers: readonly Launcher[]): Found | undefined {
  if (launchers.length === 0) return undefined
  const total = launchers.reduce((sum, { count }) => sum + count, 0)
  return {
    level: 'info',
    summary: `the virt-launcher image of ${counted(total, 'VM')} does not show its version: ${someOf(launchers.map(({ image }) => image))}`,
    objects: launchers.map(({ image }) => image),
    remedy: listByLauncher(launchers.map(({ image }) => image)),
  }
}

const plainImage = /^[\w./:@+-]+$/u
const all = `kubectl get virtualmachineinstances -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,LAUNCHER:.status.launcherContainerImageVersion`

/**
 * Commands that list the VMIs on these virt-launcher images, one each: the label of outdated VMIs tells only which differ from the
 * installed one. An image that no registry could have is not quoted for a shell: all are listed then, with their image.
 */
function listByLauncher(images: readonly string[]): readonly string[] {
  if (!images.every((image) => plainImage.test(image))) return [all]
  return images.map(
    (image) =>
      `kubectl get virtualmachineinstances -A -o jsonpath='{range .items[?(@.status.launcherContainerImageVersion=="${image}")]}{.metadata.namespace}{" "}{.metadata.name}{"\\n"}{end}'`,
  )
}

/** VMs that LiveMigrate cannot move (facts 3.5, 3.6). What Evict does to a VM depends on its own evictionStrategy (facts 3.4): that is the finding `evictions`. */
export const vmsThatStay = workloadCheck('vms-that-stay', {
  title: 'every running VM can move to the new virt-launcher by itself',
  unchecked: 'VMs that cannot move were not looked for',
  needs: ['instances', 'nodes'],
  runbook: 'OutdatedVirtualMachineInstanceWorkloads',
  assess(question) {
    const { installation, snapshot } = question
    const tally = instancesOf(question)
    const methods = installation.workloadUpdateMethods
    const isOff = methods.length === 0 && !isPausedByKvup(snapshot)
    const unplaced = withoutAnotherNode(question)
    const summary = whyTheyStay(tally, { methods, isOff, unplaced, newer: onNewerLaunchers(question) })
    if (summary === undefined) return undefined
    const { namespace, name } = installation
    return {
      level: 'warning',
      summary,
      objects: tally.notMigratable.names,
      remedy: isOff
        ? [`kubectl -n ${namespace} get kubevirt ${name} -o jsonpath='{.spec.workloadUpdateStrategy}'`]
        : [
            `kubectl get virtualmachineinstances -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,WHY:'.status.conditions[?(@.type=="LiveMigratable")].reason'`,
          ],
    }
  },
})

interface Staying {
  methods: readonly string[]
  /** Workload updates are off, and not by kvup. */
  isOff: boolean
  unplaced: readonly PlacedVms[]
  /** How many run a newer virt-launcher than they are to follow to. */
  newer: number
}

/** After a downgrade, or before one. */
function onNewerLaunchers(question: Question): number {
  const to = question.target ?? versionOf(question.rolloutStatus.observed.version)
  return launchersOf(question)
    .filter(({ version }) => version && to && compareVersions(version, to) > 0)
    .reduce((sum, { count }) => sum + count, 0)
}

function whyTheyStay(
  { running, notMigratable }: InstanceTally,
  { methods, isOff, unplaced, newer }: Staying,
): string | undefined {
  if (running > 0 && isOff)
    return `automatic VM updates are off: ${counted(running, 'running VM', ['keeps', 'keep'])} the old virt-launcher`
  const count = unplaced.reduce((sum, { vms }) => sum + vms.count, 0)
  const names = unplaced.flatMap(({ vms }) => vms.names)
  const who = [
    ...(notMigratable.count > 0
      ? [
          `${counted(notMigratable.count, 'running VM')} cannot be migrated: ${someOf(notMigratable.names, notMigratable.count)}`,
        ]
      : []),
    ...(count > 0
      ? [`${counted(count, 'running VM', ['finds', 'find'])} no other node: ${someOf(names, count)}`]
      : []),
    ...(newer > 0
      ? [
          `${counted(newer, 'running VM', ['has', 'have'])} a newer virt-launcher, and ${newer === 1 ? 'does' : 'do'} not migrate to an older one`,
        ]
      : []),
  ].join('; ')
  if (who === '') return undefined
  if (count + notMigratable.count === 0) return `${who}. Each needs a restart`
  return methods.includes('Evict')
    ? `${who}. Evict is on, so each is shut down or not moved, by its evictionStrategy`
    : `${who}. ${count + notMigratable.count + newer === 1 ? 'It keeps the old virt-launcher until it is restarted' : 'They keep the old virt-launcher until they are restarted'}`
}

/** A migration never goes to the host it comes from, and the updater never gives up (facts 3.3 and 8: #16353). */
export const twoNodes = workloadCheck('two-nodes', {
  title: 'VMs have a second node to migrate to',
  unchecked: 'a second node for VMs was not looked for',
  needs: ['nodes', 'instances'],
  assess(question) {
    const count = placesForVms(question)
    const { running } = instancesOf(question)
    if (count >= 2 || running === 0) return undefined
    const stay = onlyMigrating(question)
    return {
      level: 'warning',
      summary: `${counted(count, 'node')} can take VMs: no migration can succeed, and ${counted(running, 'running VM', ['keeps', 'keep'])} the old virt-launcher until a restart${stay === 0 ? '' : `; ${counted(stay, 'VM', ['has', 'have'])} evictionStrategy LiveMigrate: a drain of the node, and so an update of the platform, waits forever`}`,
      remedy: [
        'kubectl get nodes -L kubevirt.io/schedulable',
        ...(stay === 0
          ? []
          : [
              'kvup workloads unblock --all     temporarily sets evictionStrategy None, so a drain stops these VMs; undo: kvup restore-settings',
            ]),
      ],
    }
  },
})

/** How many running VMs a drain may not stop: it has to move them. */
function onlyMigrating(question: Question): number {
  const { evictionStrategies } = instancesOf(question)
  const byDefault = configuredValue(question.installation, ['evictionStrategy'])
  const unset = byDefault === 'LiveMigrate' ? evictionStrategies['']?.count : 0
  return (evictionStrategies['LiveMigrate']?.count ?? 0) + (unset ?? 0)
}

function placesForVms({ snapshot }: Question): number {
  return itemsOf(snapshot.nodes).filter(
    (node) =>
      node.metadata.labels?.['kubevirt.io/schedulable'] === 'true' &&
      isNodeReady(node) &&
      !node.spec?.unschedulable,
  ).length
}

/** Budgets of users over launcher pods: each drain of their nodes is refused, and the update of a node pool waits for it (kubevirt issue 18063). */
const disruptionBudgets = workloadCheck('disruption-budgets', {
  title: 'no PodDisruptionBudget refuses every eviction of VMs',
  unchecked: 'PodDisruptionBudgets were not checked',
  needs: ['budgets'],
  assess: ({ snapshot }) => itemsOf(snapshot.budgets).map(blocksDrains),
})

function blocksDrains({
  namespace,
  name,
  isUncounted,
  message,
  maxUnavailable,
  healthy,
}: BlockingBudget): Found {
  const why = isUncounted
    ? `maxUnavailable does not work for virt-launchers (${message ?? 'SyncFailed'}), only minAvailable does`
    : 'it allows no fewer pods than there are'
  const [place, budget] = [shellWord(namespace), shellWord(name)]
  return {
    level: 'warning',
    summary: `PodDisruptionBudget ${namespace}/${name} allows no eviction of its virt-launchers, so drains of their nodes wait forever: ${why}`,
    objects: [`poddisruptionbudget/${namespace}/${name}`],
    remedy: [
      `kubectl -n ${place} describe poddisruptionbudget ${budget}`,
      ...(isUncounted && typeof maxUnavailable === 'number'
        ? [countedBudget(place, budget, Math.max(0, healthy - maxUnavailable))]
        : []),
    ],
  }
}

/** The field that Kubernetes can count for pods of any owner, with the number that comes to the same now. */
function countedBudget(namespace: string, name: string, minAvailable: number): string {
  const patch = [
    { op: 'remove', path: '/spec/maxUnavailable' },
    { op: 'add', path: '/spec/minAvailable', value: minAvailable },
  ]
  return `kubectl -n ${namespace} patch poddisruptionbudget ${name} --type=json -p ${shellWord(JSON.stringify(patch))}     sets minAvailable in place of maxUnavailable (untested)`
}

/** A migration has a second launcher pod beside the first, and both count (facts 3.3 and 8: #14957). */
export const migrationQuota = workloadCheck('migration-quota', {
  title: 'no ResourceQuota refuses the second pod of a migration',
  unchecked: 'ResourceQuotas were not checked',
  needs: ['quotas', 'instances'],
  assess(question) {
    const broken = itemsOf(question.snapshot.quotas).flatMap((quota) => breach(quota, question))
    const [first] = broken
    if (!first) return undefined
    const { namespace, name } = first.quota.metadata
    return {
      level: 'warning',
      summary: `${counted(broken.length, 'ResourceQuota', ['leaves', 'leave'])} no room for a migration: ${someOf(broken.map(({ text }) => text))}`,
      objects: broken.map(
        ({ quota: { metadata } }) => `resourcequota/${metadata.namespace}/${metadata.name}`,
      ),
      remedy: [`kubectl -n ${namespace} describe resourcequota ${name}`],
    }
  },
})

/** What the target pod of the namespace's largest VM asks for at least: overhead is not counted, nor how much CPU. */
const atLeastOf: Readonly<Record<string, (memory: number) => number>> = {
  pods: () => 1,
  'count/pods': () => 1,
  memory: (memory) => memory,
  'requests.memory': (memory) => memory,
  'limits.memory': (memory) => memory,
  cpu: () => 1e-3,
  'requests.cpu': () => 1e-3,
  'limits.cpu': () => 1e-3,
}

function breach(quota: ResourceQuota, question: Question): { quota: ResourceQuota; text: string }[] {
  const { namespace = '', name } = quota.metadata
  const memory = instancesOf(question).largestMemory[namespace]
  if (memory === undefined) return []
  const { hard = {}, used = {} } = quota.status ?? {}
  const over = Object.entries(hard).find(([resource, limit]) => {
    const needed = atLeastOf[resource]?.(memory)
    const [most, now] = [quantity(limit), quantity(used[resource] ?? '0')]
    return needed !== undefined && most !== undefined && now !== undefined && now + needed > most
  })
  if (!over) return []
  const [resource, limit] = over
  return [{ quota, text: `${namespace}/${name} (${resource}: ${used[resource] ?? '0'} of ${limit} used)` }]
}

/** The workload updater carries them out, so they wait while an upgrade holds it (facts 5 and 8: #17329). */
export const pendingChanges = workloadCheck('pending-changes', {
  title: 'no change of CPU, memory or volumes is pending',
  unchecked: 'pending changes of VMs were not looked for',
  needs: ['instances'],
  assess(question) {
    const { count, names } = instancesOf(question).pendingChanges
    if (count === 0) return undefined
    const held = !question.installation.workloadUpdateMethods.includes('LiveMigrate')
    return {
      level: 'warning',
      summary: `${counted(count, 'VM', ['waits', 'wait'])} for a change of CPU, memory or volumes (${someOf(names, count)}): ${
        held
          ? 'it never happens, because LiveMigrate is not among workloadUpdateMethods'
          : 'it waits while automatic VM updates are paused'
      }`,
      objects: names,
      remedy: ['kubectl get virtualmachineinstancemigrations -A'],
    }
  },
})

/** A VM whose node is the only one that fits runs, and can neither migrate nor start elsewhere (kubevirt issue 14813). */
export const vmsWithoutAnotherNode = workloadCheck('vms-without-another-node', {
  title: 'every running VM with a node selector has a second node',
  unchecked: 'node selectors of VMs were not checked',
  needs: ['instances', 'nodes'],
  assess(question) {
    const nodes = nodesForVms(question)
    return withoutAnotherNode(question).map((place) => stuck(place, nodes))
  },
})

const nodesForVms = ({ snapshot }: Question): readonly Node[] =>
  itemsOf(snapshot.nodes).filter((node) => node.spec?.unschedulable !== true && isNodeReady(node))

/** VMs that ask something of a node which no other one has, with what they ask. */
function withoutAnotherNode(question: Question): readonly PlacedVms[] {
  const nodes = nodesForVms(question)
  return [...instancesOf(question).placed.values()]
    .map((place) => Object.assign({}, place, { labels: askedOf(place, itemsOf(question.snapshot.nodes)) }))
    .filter(({ labels, node }) => {
      const asked = Object.entries(labels)
      const fits = (one: Node) => asked.every((label) => hasLabel(one, label))
      return asked.length > 0 && !nodes.some((one) => one.metadata.name !== node && fits(one))
    })
}

/** Where no node tells of CPU models nothing is asked of them, as in the forecast. */
function askedOf({ labels }: PlacedVms, nodes: readonly Node[]): PlacedVms['labels'] {
  const tells = nodes.some(({ metadata }) =>
    Object.keys(metadata.labels ?? {}).some((key) => key.startsWith(cpuModelLabel)),
  )
  const asked = Object.entries(labels).filter(([key]) => tells || !key.startsWith(cpuModelLabel))
  return Object.fromEntries(asked)
}

/** A value that is undefined may be any. */
const hasLabel = ({ metadata }: Node, [key, value]: readonly [string, string | undefined]): boolean =>
  value === undefined ? Object.hasOwn(metadata.labels ?? {}, key) : metadata.labels?.[key] === value

function stuck({ labels, node, vms: { count, names } }: PlacedVms, nodes: readonly Node[]): Found {
  const asked = Object.entries(labels)
  const missing = asked.filter((label) => !nodes.some((one) => hasLabel(one, label)))
  const isMissing = missing.length > 0
  const told = (isMissing ? missing : asked).map(([key, value]) =>
    value === undefined ? key : `${key}=${value}`,
  )
  const why = isMissing ? 'no node has the label' : `no node but ${node} has the label`
  const [first = ''] = names
  const [namespace = '', name = ''] = first.split('/')
  return {
    level: 'warning',
    summary: `${counted(count, 'running VM', ['finds', 'find'])} no other node (${someOf(names, count)}): ${why} ${told.join(' and ')}. ${count === 1 ? 'It' : 'They'} can neither migrate nor start ${isMissing ? 'again' : 'elsewhere'}`,
    objects: names,
    remedy: [
      `kubectl get nodes -L ${told.map((label) => label.split('=')[0]).join(' -L ')}`,
      `kubectl -n ${namespace} get vm ${name} -o jsonpath='{.spec.template.spec.nodeSelector} {.spec.template.spec.domain.cpu}'     shows the cause: set another CPU model, or remove the selector`,
    ],
  }
}

/** Which volumes v1.9 unplugs: those that a running VM has and its VM object does not name (kubevirt vm.go, DeclarativeHotplugVolumes). */
export const hotpluggedVolumes = workloadCheck('hotplugged-volumes', {
  title: 'the VM object names every volume that is hotplugged into a running VM',
  unchecked: 'hotplugged volumes were not checked',
  needs: ['instances', 'vms'],
  lacks: (question) => (question.target === undefined ? undefined : lacksVersion(question)),
  assess(question) {
    const { installation, target, rolloutStatus } = question
    const hop = hopOf(question)
    // Without a target it is told of what is to come.
    const concerns =
      target === undefined
        ? isBefore(versionOf(rolloutStatus.observed.version), 9)
        : hop && enters(hop, 'v1.9')
    const ofHyperConverged = installation.manager.kind === 'hyperconverged'
    if (!concerns || staysEphemeral(installation)) return undefined
    const named = itemsOf(question.snapshot.vms)[0]?.hotplugged
    const lost = [...instancesOf(question).hotplugged].filter((volume) => !named?.has(volume))
    if (lost.length === 0) return undefined
    return {
      level: target === undefined ? 'info' : 'warning',
      summary: `v1.9${ofHyperConverged ? ', which HyperConverged 1.19 brings,' : ''} turns DeclarativeHotplugVolumes on and unplugs ${counted(lost.length, 'volume')} from running VMs (${someOf(lost)}): they were plugged into the VMI, but are not in the VM`,
      objects: lost.slice(0, 100),
      remedy: [
        ...lost.slice(0, 3).map((volume) => {
          const [namespace = '', name = '', disk = ''] = volume.split('/')
          return `kubectl -n ${namespace} edit vm ${name}     add volume ${disk} and its disk to spec.template.spec before the upgrade`
        }),
        ...(ofHyperConverged
          ? []
          : setField(
              question,
              'spec.configuration.developerConfiguration.featureGates',
              { add: ['HotplugVolumes'] },
              'or this: with HotplugVolumes, nothing is unplugged (untested)',
            )),
      ],
    }
  },
})

/** HyperConverged lists the gates itself, and leaves HotplugVolumes out from 1.19 on (PR 4381). */
function staysEphemeral(installation: Question['installation']): boolean {
  const { featureGates, disabledFeatureGates } = gatesOf(installation)
  if (disabledFeatureGates.includes('DeclarativeHotplugVolumes')) return true
  return installation.manager.kind !== 'hyperconverged' && featureGates.includes('HotplugVolumes')
}

/** An upgrade was seen to add VMs to this list; what is in it today was there before (facts 5 and 8: #16719). */
const restartRequired = workloadCheck('restart-required', {
  title: 'no VM waits for a restart',
  unchecked: 'VMs that wait for a restart were not looked for',
  needs: ['vms'],
  assess({ snapshot }) {
    const waiting = itemsOf(snapshot.vms)[0]?.restartRequired
    if (!waiting || waiting.count === 0) return undefined
    return {
      level: 'info',
      summary: `${counted(waiting.count, 'VM', ['is', 'are'])} RestartRequired today (${someOf(waiting.names, waiting.count)}): those that are added during the upgrade come from it`,
      objects: waiting.names,
      remedy: [
        `kubectl get virtualmachines -A -o custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,RESTART:'.status.conditions[?(@.type=="RestartRequired")].message'`,
      ],
    }
  },
})

/** Names of the migrations that the workload updater makes, and of their pods, grow from the VM's. */
const longNames = workloadCheck('long-names', {
  title: 'the names of VMs leave room for the suffix of a migration',
  unchecked: 'the names of VMs were not checked',
  needs: ['instances'],
  assess(question) {
    const { count, names } = instancesOf(question).longNames
    if (count === 0) return undefined
    return {
      level: 'warning',
      summary: `${counted(count, 'VM', ['has', 'have'])} a name of more than 47 characters: ${someOf(names, count)}. Their migrations may fail, because labels made of the name are too long`,
      objects: names,
      remedy: ['kubectl get virtualmachineinstances -A'],
    }
  },
})

/** What the update does to VMs, and they to it, in the order in which it is printed. */
export const vmChecks: readonly Check[] = [
  twoLaunchers,
  launcherAge,
  vmsThatStay,
  twoNodes,
  migrationQuota,
  disruptionBudgets,
  pendingChanges,
  hotpluggedVolumes,
  vmsWithoutAnotherNode,
  restartRequired,
  longNames,
]
