import { parseDuration, toGoDuration } from '../../kube/duration.ts'
import { blocked, usageError } from '../../kube/errors.ts'
import { nearest, valueText } from '../../kube/text.ts'
import { quantity } from '../../kube/quantity.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import {
  type EffectiveSetting,
  effectiveSettings,
  overridingPolicies,
  type OverridingPolicy,
  readMigrationPolicies,
  sameValue,
  type Setting,
  type SettingValue,
  workloadSettings,
} from './workload-settings.ts'
import { valueAt } from '../../kube/server-side-apply.ts'
import type { KubeObject } from '../../kube/object.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import type { Procedure, Step, StepContext, StepState } from '../../engine/step.ts'
import {
  ensureStillStored,
  kubeVirtFields,
  passesOn,
  patchAt,
  readOwner,
  type SettingsOwner,
  showsWriters,
  storedNow,
  untilWritable,
  waitingForOwner,
  watchesOf,
  writeSettings,
} from './settings-owner.ts'
import type { KubeVirt } from '../../kube/kinds/kubevirt-kinds.ts'
import { type HopFinding, blocker, warning } from '../../releases/hop-findings.ts'
import { type Forecast, forecastOutdated, forecastText } from '../forecast/vm-forecast.ts'
import { versionOf } from '../../releases/release-versions.ts'
import type { Override } from '../../engine/journal.ts'
import {
  heldLines,
  keptMethods,
  methodsOf,
  overrideOn,
  restoreLine,
  resumingLine,
} from '../update-methods.ts'
import type { Cluster } from '../../kube/cluster.ts'
import type { Installation } from '../../kubevirt/installation.ts'
import type { RolloutStatus } from '../../kubevirt/rollout-status.ts'
import type { RunEnvironment } from '../../engine/change.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'

/** The only ones that there are (facts 1.2); the schema takes any word and KubeVirt ignores what it does not know. */
const methods = ['LiveMigrate', 'Evict'] as const

/** What was typed for `strategy set`. */
export interface TypedSettings {
  methods?: string
  batchSize?: string
  batchInterval?: string
  parallelPerCluster?: string
  parallelPerNode?: string
  bandwidth?: string
  completionTimeout?: string
  progressTimeout?: string
  migrationNetwork?: string
}

/** Field to value; null takes it out. */
type Wanted = Readonly<Record<string, SettingValue>>

type Parse = (typed: string, flag: string) => SettingValue

const parsers: Readonly<Record<keyof TypedSettings, readonly [field: string, flag: string, parse: Parse]>> = {
  methods: ['workloadUpdateMethods', '--methods', parseMethods],
  batchSize: ['batchEvictionSize', '--batch-size', parseCount],
  batchInterval: [
    'batchEvictionInterval',
    '--batch-interval',
    (typed, flag) => toGoDuration(positive(typed, flag)),
  ],
  parallelPerCluster: ['parallelMigrationsPerCluster', '--parallel-per-cluster', parseCount],
  parallelPerNode: ['parallelOutboundMigrationsPerNode', '--parallel-per-node', parseCount],
  bandwidth: ['bandwidthPerMigration', '--bandwidth', parseBandwidth],
  completionTimeout: ['completionTimeoutPerGiB', '--completion-timeout', wholeSeconds],
  progressTimeout: ['progressTimeout', '--progress-timeout', wholeSeconds],
  migrationNetwork: [
    'network',
    '--migration-network',
    (typed) => (typed === 'none' ? null : networkName(typed)),
  ],
}

/** Throws `usage` for what cannot be meant, and where nothing was asked for. */
export function parseWanted(typed: TypedSettings): Wanted {
  const wanted = Object.entries(parsers).flatMap(([key, [field, flag, parse]]) => {
    const text = typed[key as keyof TypedSettings]
    return text === undefined ? [] : [[field, parse(text.trim(), flag)] as const]
  })
  if (wanted.length > 0) return Object.fromEntries(wanted)
  throw usageError('nothing-to-set', 'name what to set', {
    remedy: [
      'kvup workloads strategy set --methods LiveMigrate',
      'kvup workloads strategy show     shows the current settings',
    ],
  })
}

function parseMethods(typed: string): readonly string[] {
  if (typed === 'none') return []
  const words = typed.split(',').map((word) => word.trim())
  for (const word of words) refuseUnknown(word)
  const twice = words.find((word, index) => words.indexOf(word) !== index)
  if (twice === undefined) return words
  throw usageError('method-twice', `--methods names ${twice} twice`)
}

function refuseUnknown(word: string): void {
  if ((methods as readonly string[]).includes(word)) return
  const meant = meantBy(word)
  throw usageError('no-such-method', `${JSON.stringify(word)} is no workload update method`, {
    remedy:
      meant === undefined
        ? `${methods.join(', ')}, both separated by a comma, or none`
        : `did you mean ${meant}?`,
  })
}

/** Case and endings are what is mistaken most: `livemigrate`, `LiveMigration`. */
function meantBy(word: string): string | undefined {
  const small = word.toLowerCase()
  const near = nearest(small, [...methods.map((method) => method.toLowerCase()), 'livemigration', 'eviction'])
  return methods.find((method) => near?.startsWith(method.toLowerCase().slice(0, 4)))
}

function parseCount(typed: string, flag: string): number {
  const count = Number(typed)
  if (/^\d+$/u.test(typed) && count > 0 && Number.isSafeInteger(count) && count < 2 ** 31) return count
  throw usageError('not-a-count', `${flag} takes a whole number from 1, not ${JSON.stringify(typed)}`)
}

function positive(typed: string, flag: string): number {
  const ms = parseDuration(typed)
  if (ms > 0) return ms
  throw usageError('not-positive', `${flag} has to be longer than ${typed}`)
}

function wholeSeconds(typed: string, flag: string): number {
  const ms = positive(typed, flag)
  if (ms % seconds === 0) return ms / seconds
  throw usageError('not-seconds', `${flag} takes whole seconds, and ${typed} is not`)
}

/** Bytes a second; a bare number would be a handful of bytes. `0` is no limit. */
function parseBandwidth(typed: string, flag: string): string {
  if (typed === '0') return '0Mi'
  const bytes = quantity(typed)
  if (bytes !== undefined && bytes >= 1 && !/^[\d.]+$/u.test(typed)) return typed
  throw usageError(
    'not-a-bandwidth',
    `${flag} is written like 64Mi or 1Gi, bytes a second, not ${JSON.stringify(typed)}`,
    { remedy: `${flag} 64Mi, or 0 for no limit` },
  )
}

function networkName(typed: string): string {
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u.test(typed)) return typed
  throw usageError(
    'not-a-network',
    `--migration-network takes the name of a NetworkAttachmentDefinition, or none, not ${JSON.stringify(typed)}`,
  )
}

/** One field that is not as it is wanted. */
interface Difference {
  setting: Setting
  path: readonly string[]
  from: unknown
  to: unknown
}

/** Writes the settings to their owner in one patch, and is done once the KubeVirt CR has them. */
function setStrategy(found: SettingsOwner, wanted: Wanted): Step {
  return {
    id: 'set-strategy',
    title: 'set automatic VM updates',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    watches: watchesOf(found),
    risk: { undo: 'kvup workloads strategy set with the former values', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const different = differences(await readOwner(reader, owner), owner, wanted)
      if (different.length > 0) {
        const change = `set ${different.map(inWords).join('; ')}`
        return (await untilWritable(reader, owner)) ?? { is: 'todo', change }
      }
      if (!passesOn(owner)) return { is: 'done' }
      const late = differences(await readOwner(reader, owner.kubevirt), kubeVirtFields, wanted)
      if (late.length === 0) return { is: 'done', note: 'KubeVirt has it' }
      return waitingForOwner(
        owner,
        late.map(({ setting, to }) => `${setting.name} ${valueText(to)}`).join(', '),
      )
    },
    shows: showsWriters(found),
    async blame({ reader }, after) {
      const holding = await readOwner(reader, found)
      const [first] = differences(holding, found, wanted)
      return first && lastWriter(holding, `/${first.path.join('/')}`, after)
    },
    async apply(cx) {
      const owner = await storedNow(cx.reader, found)
      await write(cx, 'is' in owner ? found : owner, wanted)
    },
  }
}

async function write(cx: StepContext, owner: SettingsOwner, wanted: Wanted): Promise<void> {
  const { reader } = cx
  await ensureStillStored(reader, owner)
  const holding = await readOwner(reader, owner)
  const different = differences(holding, owner, wanted)
  const below = (place: Setting['in']) =>
    Object.fromEntries(
      different.flatMap(({ setting, to }) => (setting.in === place ? [[setting.name, to] as const] : [])),
    )
  const patch = patchAt(
    [
      [owner.strategy, below('strategy')],
      [owner.migrations, below('migrations')],
    ],
    holding,
  )
  await writeSettings(cx, owner, patch)
}

/** What is wanted and not there; absence is as good as null, and not as good as the default: a default may change. */
function differences(
  object: KubeObject,
  at: Pick<SettingsOwner, 'strategy' | 'migrations'>,
  wanted: Wanted,
): readonly Difference[] {
  return workloadSettings.flatMap((setting) => {
    const to = wanted[setting.name]
    if (to === undefined) return []
    const path = [...at[setting.in], setting.name]
    const from = valueAt(object, path)
    return sameValue(setting, from, to) ? [] : [{ setting, path, from, to }]
  })
}

const inWords = ({ setting, from, to }: Difference): string =>
  `${setting.name} ${from === undefined ? '(not set)' : valueText(from)} → ${valueText(to)}`

/** What a choice of settings is judged by. */
export interface Choice {
  wanted: Wanted
  kubevirt: KubeVirt
  /** What the methods do with the VMs that are outdated now; undefined where no methods are chosen. */
  forecast?: Forecast | undefined
}

/** What speaks against it. Pure. */
export function choiceFindings(choice: Choice): readonly HopFinding[] {
  return [...evictions(choice), ...gate(choice), ...network(choice)]
}

function chosenMethods({ wanted }: Choice): readonly string[] | undefined {
  const wantedMethods = wanted['workloadUpdateMethods']
  return Array.isArray(wantedMethods) ? wantedMethods : undefined
}

/** VMs are interrupted as soon as it is set: accepted by name (contract "Temporary changes"). */
function evictions(choice: Choice): readonly HopFinding[] {
  const { forecast } = choice
  if (forecast === undefined || !chosenMethods(choice)?.includes('Evict')) return []
  if (forecast.interrupted.length === 0) return []
  return blocker({
    id: 'evictions',
    summary: `with Evict, KubeVirt now ${forecastText(forecast)}`,
    objects: forecast.interrupted.slice(0, 20),
    remedy: ['kvup workloads strategy set --methods LiveMigrate     leaves them running'],
  })
}

const gate = (choice: Choice): readonly HopFinding[] =>
  gateFinding(choice.kubevirt, chosenMethods(choice) ?? [])

/** The network is one of the inputs of the deployment ID (facts 2.3): virt-handler rolls, which kills migrations (facts 2.8). */
function network({ wanted }: Choice): readonly HopFinding[] {
  if (wanted['network'] === undefined) return []
  return warning({
    id: 'migration-network-rolls',
    summary:
      'another migration network makes KubeVirt roll virt-handler on every node: migrations that run then fail',
    remedy: ['kvup workloads migrations     shows what runs now', 'kvup status -w     follows the roll'],
  })
}

/** What the methods mean for these VMs and for hotplug, said before the question (facts 5, issue 17329). */
export function choiceText(choice: Choice): readonly string[] {
  const wantedMethods = chosenMethods(choice)
  if (wantedMethods === undefined) return []
  const { forecast } = choice
  const hotplug = 'hotplug of CPU, memory and networks and changes of volumes'
  return [
    wantedMethods.length === 0
      ? 'KubeVirt no longer moves VMs: outdated ones remain until you migrate or restart them'
      : `of the outdated VMs, KubeVirt ${forecast ? forecastText(forecast) : 'moves some'}`,
    wantedMethods.includes('LiveMigrate')
      ? `${hotplug} need migrations`
      : `${hotplug} wait until a VM restarts: they need migrations, and so LiveMigrate`,
  ]
}

const gateName = 'LiveMigration'

/**
 * What stands against LiveMigrate among these methods: before v0.56 nothing migrates without its gate; since then it is always on
 * (kubevirt pull request 8047, night W7). Pure.
 */
function gateFinding(kubevirt: KubeVirt, wantedMethods: readonly string[]): readonly HopFinding[] {
  const version = versionOf(kubevirt.status?.observedKubeVirtVersion)
  const needsIt = version !== undefined && version.major === 0 && version.minor < 56
  if (!needsIt || !wantedMethods.includes('LiveMigrate') || isOn(kubevirt)) return []
  return blocker({
    id: 'live-migration-gate',
    summary: `KubeVirt ${version.text} migrates nothing without the feature gate ${gateName}, which is not on`,
    objects: [`kubevirt/${kubevirt.metadata.name}`],
    remedy: [`add ${gateName} to spec.configuration.developerConfiguration.featureGates first`],
  })
}

function isOn({ spec }: KubeVirt): boolean {
  const developer = spec?.configuration?.['developerConfiguration']
  const gates = valueAt(developer, ['featureGates'])
  return Array.isArray(gates) && gates.includes(gateName)
}

/** Methods that are borrowed are not set: the next restore would find another value and give nothing back. Throws `blocked`. */
export function ensureNotPaused(wanted: Wanted, override: Override | undefined): void {
  if (wanted['workloadUpdateMethods'] === undefined || override === undefined) return
  throw blocked(
    'paused-updates',
    `automatic VM updates are paused by ${override.by} since ${override.at} (saved: ${keptMethods(override).join(', ')})`,
    {
      remedy: [
        ...heldLines(override, '     resumes them first'),
        `${restoreLine(override)} --keep-current     forgets the saved value`,
      ],
    },
  )
}

/** `kvup workloads strategy show` and `set`. */
export interface WorkloadStrategyDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'WorkloadStrategy'
  kubevirt: { name: string; namespace: string }
  /** Where the settings are written. */
  owner: OwnerInDocument
  /** Of KubeVirt, which decides what the defaults are. */
  version?: string
  /** The methods are borrowed: what they were, by whom, since when. */
  paused?: { methods: readonly string[]; by: string; at: string; restore: string }
  /** Only of `set`. `dry-run`: a dry run. */
  outcome?: 'set' | 'already-so' | 'dry-run'
  /** What the choice means for these VMs; only of a dry run, for else it is said before the question. */
  said?: readonly string[]
  /** In effect now; after a `set` as they were read back. */
  items: readonly EffectiveSetting[]
  /** For the VMs that they select other values hold; absent where they may not be read. */
  policies?: readonly OverridingPolicy[]
  /** What is not known, and why. */
  remarks?: readonly string[]
  /** What keeps the methods in effect from working, where something does. */
  findings?: readonly HopFinding[]
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
}

/** Nothing is borrowed by it, and nothing has to be given back. */
export function procedureOf({ owner }: SettingsWork, wanted: Wanted): Procedure {
  const step = setStrategy(owner, wanted)
  return {
    name: 'set the workload update strategy',
    overrides: [],
    reached: async (reading) => (await step.check(reading)).is === 'done',
    steps: async () => [step],
  }
}

export async function choiceOf(
  { installation: { kubevirt }, cluster: { reader } }: SettingsWork,
  wanted: Wanted,
): Promise<Choice> {
  const chosen = wanted['workloadUpdateMethods']
  if (!Array.isArray(chosen)) return { wanted, kubevirt }
  return { wanted, kubevirt, forecast: await forecastOutdated(reader, kubevirt, chosen) }
}

/** What is in effect now, read again, with what is borrowed of it. */
export async function strategyDocument({
  cluster: { reader },
  owner,
  environment,
  installation: { name, namespace },
}: SettingsWork): Promise<WorkloadStrategyDocument> {
  const [holding, kubevirt, overrides, policies] = await Promise.all([
    readOwner(reader, owner),
    readOwner(reader, owner.kubevirt),
    environment.journal.overrides(),
    readMigrationPolicies(reader),
  ])
  const items = effectiveSettings(owner, holding, kubevirt)
  const findings = gateFinding(kubevirt, methodsOf(kubevirt))
  const override = overrideOn(owner, overrides)
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'WorkloadStrategy',
    kubevirt: { name, namespace },
    owner: ownerInDocument(owner),
    ...(version !== undefined && { version }),
    ...(override && {
      paused: {
        methods: keptMethods(override),
        by: override.by,
        at: override.at,
        restore: resumingLine(override),
      },
    }),
    items,
    ...(policies.known
      ? { policies: overridingPolicies(policies.items, items) }
      : { remarks: [`kvup does not know whether MigrationPolicies override them: ${policies.why}`] }),
    ...(findings.length > 0 && { findings }),
  }
}

/** The object that owns the settings: the KubeVirt, or its HyperConverged. */
export interface OwnerInDocument {
  apiVersion: string
  kind: string
  name: string
  namespace: string
}

/** What the commands that change the settings of workload updates work with. */
export interface SettingsWork {
  cluster: Cluster
  installation: Installation
  rolloutStatus: RolloutStatus
  owner: SettingsOwner
  /** The owner as it was read. */
  holding: KubeObject
  environment: RunEnvironment
}

/** How a document names the owner. */
export const ownerInDocument = ({ kind: { apiVersion, kind }, ref }: SettingsOwner): OwnerInDocument => ({
  apiVersion,
  kind,
  name: ref.name,
  namespace: ref.namespace,
})
