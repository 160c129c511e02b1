import { valueAt } from '../../kube/server-side-apply.ts'
import type { KubeVirt } from '../../kube/kinds/kubevirt-kinds.ts'
import { isBefore, type Version, versionOf } from '../../releases/release-versions.ts'
import type { Reader } from '../../kube/cluster.ts'
import { atVersion, groupOf } from '../../kube/object.ts'
import { HyperConvergeds } from '../../kube/kinds/operator-kinds.ts'
import type { Installation } from '../../kubevirt/installation.ts'
import { blocked, KvupError, usageError } from '../../kube/errors.ts'
import { methodsOf, type Owner, showWriters } from '../update-methods.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import type { Step, StepState } from '../../engine/step.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import { onKubeVirt, patchAt, readOwner } from '../strategy/settings-owner.ts'
import { configMapJournal } from '../../engine/journal-config-map.ts'
import type { Entry } from '../../engine/journal.ts'
import type { RestartRequiredItem } from './restart-required.ts'
import type { Unread } from '../../kube/readable-pages.ts'
import type { ReadCluster } from '../../kubevirt/snapshot.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'

/** What a change of a running VM does: wait for its restart, or, for some fields, reach it while it runs. */
export type RolloutStrategy = 'Stage' | 'LiveUpdate'

const liveUpdateGate = 'VMLiveUpdateFeatures'
const rolloutPath = ['spec', 'configuration', 'vmRolloutStrategy'] as const
const gatesPath = ['spec', 'configuration', 'developerConfiguration', 'featureGates'] as const

/** The strategy in effect, and what KubeVirt's version makes of what the CR says (facts 5). */
interface VmRollout {
  inEffect: RolloutStrategy
  /** What the field says. */
  configured?: string
  /** Of this version, where the field is absent. */
  byDefault: RolloutStrategy
  /** Before v1.2 there is no such field. */
  served: boolean
  gate: {
    name: typeof liveUpdateGate
    listed: boolean
    /** From v1.0 to v1.4 LiveUpdate is ignored without it. */
    needed: boolean
  }
}

/** Where the version is not known it is taken for a new one. Pure. */
export function vmRolloutOf(kubevirt: KubeVirt): VmRollout {
  const version = versionOf(kubevirt.status?.observedKubeVirtVersion)
  const configured = valueAt(kubevirt, rolloutPath)
  const listed = gatesIn(kubevirt).includes(liveUpdateGate)
  const known = {
    ...(typeof configured === 'string' && { configured }),
    byDefault: isBefore(version, 6) ? ('Stage' as const) : ('LiveUpdate' as const),
    served: !isBefore(version, 2),
    gate: { name: liveUpdateGate, listed, needed: isBefore(version, 5) && !isBefore(version, 0) },
  } satisfies Omit<VmRollout, 'inEffect'>
  return { inEffect: strategyInEffect(known), ...known }
}

function strategyInEffect({
  configured,
  byDefault,
  served,
  gate,
}: Omit<VmRollout, 'inEffect'>): RolloutStrategy {
  const asked = configured === 'Stage' || configured === 'LiveUpdate' ? configured : byDefault
  return served && (gate.listed || !gate.needed) ? asked : 'Stage'
}

/** The feature gates that are listed, in their order. */
function gatesIn(kubevirt: KubeVirt): readonly string[] {
  const gates = valueAt(kubevirt, gatesPath)
  return Array.isArray(gates) ? gates.map(String) : []
}

/** Since v1.8 the condition RestartRequired goes when a VM is as it was at its start again (issues 16606 and 16719). */
const revertingClears = (version: Version | undefined): boolean => !isBefore(version, 8)

/** Lets one change what HyperConverged passes on to KubeVirt, and taints it (hco 6, night W10). */
const jsonpatchAnnotation = 'kubevirt.kubevirt.io/jsonpatch'

/** Who says which strategy holds. */
interface RolloutOrigin {
  /** `default`: nobody says it. `annotation`: that of a HyperConverged. */
  from: 'KubeVirt' | 'HyperConverged' | 'annotation' | 'default'
  /** Why the annotations of the HyperConverged are not known. */
  unread?: string
}

/** Reads the HyperConverged where there is one; what may not be read is said. Throws nothing for it. */
async function rolloutOrigin(
  reader: Reader,
  { kubevirt, manager, namespace }: Installation,
): Promise<RolloutOrigin> {
  const said = valueAt(kubevirt, rolloutPath) !== undefined
  if (manager.kind !== 'hyperconverged') return { from: said ? 'KubeVirt' : 'default' }
  try {
    const patch = await readAnnotation(reader, manager.name ?? 'kubevirt-hyperconverged', namespace)
    return { from: patch?.includes('vmRolloutStrategy') ? 'annotation' : 'HyperConverged' }
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { from: 'HyperConverged', unread: error.message }
  }
}

/** Metadata is the same under every version; reading loses nothing. */
async function readAnnotation(reader: Reader, name: string, namespace: string): Promise<string | undefined> {
  const [version] = await reader.versions(groupOf(HyperConvergeds))
  if (version === undefined) return undefined
  const found = await reader.get(atVersion(HyperConvergeds, version), { name, namespace })
  return found.is === 'object' ? found.object.metadata.annotations?.[jsonpatchAnnotation] : undefined
}

/** What a strategy means, in a sentence (facts 5). */
const meaning = {
  Stage: 'a change of a running VM waits for its restart',
  LiveUpdate:
    'CPU sockets, memory, node selector, affinity and tolerations reach a running VM; all else waits for its restart',
} as const

/** What the version at hand makes of the field, and what would change it. Pure. */
const rolloutNotes = (kubevirt: KubeVirt, rollout: VmRollout, origin: RolloutOrigin): readonly string[] => [
  ...fieldNotes(kubevirt, rollout),
  ...gateNotes(kubevirt, rollout),
  ...defaultNotes(rollout, origin),
  ...migrationNotes(kubevirt, rollout),
  ...ownerNotes(origin),
]

const versionText = ({ status }: KubeVirt): string =>
  versionOf(status?.observedKubeVirtVersion)?.text ?? 'of unknown version'

function fieldNotes(kubevirt: KubeVirt, { served, gate }: VmRollout): readonly string[] {
  if (served) return []
  const gated =
    gate.needed && gate.listed
      ? `; its feature gate ${liveUpdateGate} is on, so that VMs with spec.liveUpdateFeatures get changes of CPU and memory live`
      : ''
  return [`KubeVirt ${versionText(kubevirt)} has no vmRolloutStrategy, which came with v1.2${gated}`]
}

function gateNotes(kubevirt: KubeVirt, { served, configured, gate }: VmRollout): readonly string[] {
  if (!gate.needed)
    return gate.listed && served ? [`the feature gate ${liveUpdateGate} does nothing since v1.5`] : []
  if (configured !== 'LiveUpdate' || gate.listed) return []
  return [
    `LiveUpdate is ignored: KubeVirt ${versionText(kubevirt)} needs the feature gate ${liveUpdateGate} for it, which is not on`,
    'kvup workloads live-update set LiveUpdate --add-gate     adds it',
  ]
}

function defaultNotes({ configured, byDefault }: VmRollout, { from }: RolloutOrigin): readonly string[] {
  if (configured !== undefined || from !== 'default') return []
  if (byDefault === 'LiveUpdate') return ['LiveUpdate is the default since v1.6; before it was Stage']
  return [
    'from v1.6 on the default is LiveUpdate: an upgrade to it changes this cluster',
    'kvup workloads live-update set Stage     keeps the present strategy',
  ]
}

/** The workload updater carries live changes out (facts 5, issue 17329). */
function migrationNotes(kubevirt: KubeVirt, { inEffect }: VmRollout): readonly string[] {
  if (inEffect === 'Stage' || methodsOf(kubevirt).includes('LiveMigrate')) return []
  return [
    'changes of CPU and memory need a migration, but LiveMigrate is not among workloadUpdateMethods: they wait',
    'kvup workloads strategy show     shows the methods, and whether they are paused',
  ]
}

/** Where the rollout strategy in effect is written, where that is not the KubeVirt (night W10). */
function ownerNotes({ from, unread }: RolloutOrigin): readonly string[] {
  if (from === 'annotation')
    return [
      'the annotation kubevirt.kubevirt.io/jsonpatch of the HyperConverged sets it, which taints it (TaintedConfiguration, UnsupportedFeatureAnnotation)',
    ]
  if (from !== 'HyperConverged') return []
  return [
    'HyperConverged fixes it to LiveUpdate',
    ...(unread === undefined ? [] : [`kvup does not know whether its annotation overrides that: ${unread}`]),
  ]
}

/** What the fields of the KubeVirt CR are to say. */
export interface WantedRollout {
  /** `default`: the field is taken out. */
  strategy: RolloutStrategy | 'default'
  /** The feature gate comes with it, in the same patch (night W10). */
  gate: boolean
}

const below = { strategy: rolloutPath.slice(0, -1), gates: gatesPath.slice(0, -1) }

/** Writes strategy and gate in one patch; refused where somebody else wrote since they were read. */
export function setRollout(owner: Owner, wanted: WantedRollout): Step {
  return {
    id: 'set-rollout-strategy',
    title: 'set what a change of a running VM does',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    watches: [],
    risk: { undo: 'kvup workloads live-update set with the former strategy', safeToLeave: 'always' },
    async check({ reader }): Promise<StepState> {
      const missing = differencesFrom(await readOwner(reader, owner), wanted)
      return missing.length === 0 ? { is: 'done' } : { is: 'todo', change: `set ${missing.join('; ')}` }
    },
    shows: showWriters(owner),
    blame: async ({ reader }, after) =>
      lastWriter(await readOwner(reader, owner), `/${rolloutPath.join('/')}`, after),
    async apply({ reader, writer }) {
      const kubevirt = await readOwner(reader, owner)
      const { kind, ref } = onKubeVirt(owner)
      await writer.mergePatch(kind, ref, patchFor(kubevirt, wanted))
    },
  }
}

function patchFor(kubevirt: KubeVirt, { strategy, gate }: WantedRollout) {
  const gates = gatesIn(kubevirt)
  const added = gate && !gates.includes(liveUpdateGate) ? { featureGates: [...gates, liveUpdateGate] } : {}
  const vmRolloutStrategy = strategy === 'default' ? null : strategy
  return patchAt(
    [
      [below.strategy, { vmRolloutStrategy }],
      [below.gates, added],
    ],
    kubevirt,
  )
}

/** In words; none where it is so already. Null is as good as absence. */
function differencesFrom(kubevirt: KubeVirt, { strategy, gate }: WantedRollout): readonly string[] {
  const now = rolloutIn(kubevirt)
  return [
    ...(now === strategy ? [] : [`vmRolloutStrategy ${now} → ${strategy}`]),
    ...(gate && !gatesIn(kubevirt).includes(liveUpdateGate) ? [`feature gate ${liveUpdateGate} on`] : []),
  ]
}

function rolloutIn(kubevirt: KubeVirt): string {
  const said = valueAt(kubevirt, rolloutPath)
  return typeof said === 'string' ? said : 'default'
}

/** Throws where what would be written has no effect or does not last (night W10): `blocked`, and `usage` for a gate that is not needed. */
export function ensureSettable(installation: Installation, wanted: WantedRollout): void {
  const { kubevirt, manager } = installation
  const { served, gate } = vmRolloutOf(kubevirt)
  const version = versionOf(kubevirt.status?.observedKubeVirtVersion)?.text ?? 'of unknown version'
  if (manager.kind === 'hyperconverged') throw fixed(installation, wanted)
  if (!served)
    throw blocked(
      'rollout-not-served',
      `KubeVirt ${version} has no vmRolloutStrategy, which came with v1.2`,
      {
        remedy: 'kvup releases     shows what there is to upgrade to',
      },
    )
  if (wanted.gate && !gate.needed)
    throw usageError('gate-not-needed', `KubeVirt ${version} needs no feature gate ${liveUpdateGate}`, {
      remedy: `kvup workloads live-update set ${wanted.strategy}`,
    })
  if (isIgnored(vmRolloutOf(kubevirt), wanted)) throw ignored(version)
}

function isIgnored({ gate, byDefault }: VmRollout, wanted: WantedRollout): boolean {
  const strategy = wanted.strategy === 'default' ? byDefault : wanted.strategy
  return strategy === 'LiveUpdate' && gate.needed && !gate.listed && !wanted.gate
}

function ignored(version: string): Error {
  return blocked(
    'rollout-gate-missing',
    `KubeVirt ${version} ignores LiveUpdate without the feature gate ${liveUpdateGate}, which is not on`,
    { remedy: 'kvup workloads live-update set LiveUpdate --add-gate     adds it in the same patch' },
  )
}

/** Its operator compares the whole spec of the KubeVirt and overwrites what differs (hco 6). */
function fixed(
  { manager, namespace, name }: Installation,
  { strategy }: Pick<WantedRollout, 'strategy'>,
): Error {
  const object = `hyperconvergeds.hco.kubevirt.io/${manager.name ?? 'kubevirt-hyperconverged'}`
  const patch = '[{"op":"add","path":"/spec/configuration/vmRolloutStrategy","value":"Stage"}]'
  const stage = strategy === 'Stage'
  return blocked(
    'rollout-fixed-by-hyperconverged',
    `HyperConverged fixes the VM rollout strategy to LiveUpdate and overwrites what is written to kubevirts/${name}`,
    {
      object: `${object} in namespace ${namespace}`,
      notes: stage
        ? [
            `only its annotation ${jsonpatchAnnotation} overrides that, beside what it patches already; it taints the HyperConverged (TaintedConfiguration, UnsupportedFeatureAnnotation) and has to go before an upgrade`,
          ]
        : ['LiveUpdate is what it passes on by itself'],
      remedy: stage
        ? `kubectl -n ${namespace} annotate ${object} '${jsonpatchAnnotation}=${patch}'`
        : 'kvup workloads live-update show     shows what is in effect',
    },
  )
}

/** What a choice means for the VMs that run, said before the question (facts 5, derived from it). Pure. */
export function rolloutChoice(kubevirt: KubeVirt, wanted: WantedRollout['strategy']): readonly string[] {
  const { inEffect, byDefault } = vmRolloutOf(kubevirt)
  const strategy = wanted === 'default' ? byDefault : wanted
  return [`${strategy}: ${meaning[strategy]}`, ...(strategy === inEffect ? [] : waiting(kubevirt)[strategy])]
}

function waiting({ status }: KubeVirt): Record<RolloutStrategy, string[]> {
  const observed = revertingClears(versionOf(status?.observedKubeVirtVersion))
  return {
    Stage: ['from now on a change of a running VM makes it RestartRequired'],
    LiveUpdate: [
      observed
        ? 'VMs that wait only for CPU, memory or placement get it at once, most of them by a migration'
        : 'VMs that are RestartRequired already still need a restart',
      'kvup workloads restart-required     shows them',
    ],
  }
}

/** `kvup workloads live-update show` and `set`. */
export interface VmRolloutDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'VmRollout'
  kubevirt: { name: string; namespace: string; version?: string }
  /** In effect now; after a `set` as it was read back. */
  strategy: RolloutStrategy
  /** What that means for a running VM. */
  meaning: string
  origin: RolloutOrigin['from']
  /** What the field says; absent where nobody says it. */
  configured?: string
  /** Of this version of KubeVirt. */
  byDefault: RolloutStrategy
  path: string
  gate: VmRollout['gate']
  notes: readonly string[]
  /** Only of `set`. `dry-run`: a dry run. */
  outcome?: 'set' | 'already-so' | 'dry-run'
  dryRun?: 'client' | 'server'
  steps?: readonly DryRunStep[]
  /** What the choice means; only of a dry run, for else it is said before the question. */
  said?: readonly string[]
}

/** Besides its `items`, which are RestartRequiredItem. Times are RFC 3339. */
export interface RestartRequiredDocument {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'RestartRequired'
  asOf: string
  /** What was asked for; empty for the whole cluster. */
  selection: { namespace?: string; labels?: string }
  kubevirt: { name: string; namespace: string; version?: string }
  strategy: 'Stage' | 'LiveUpdate'
  /** Since v1.8 the condition goes when the VM is as it was at its start again. */
  revertingClears: boolean
  totals: { total: number; duringUpgrade: number; withFrozenHotplug: number; reverted: number }
  /** What may not be read: nothing is said of it. */
  unread: readonly Unread[]
  remarks: readonly string[]
  /** The command for what comes next. */
  next?: string
}

/** What is in effect by this look at the KubeVirt CR, and what its version makes of it. */
export async function rolloutDocument(
  reader: Reader,
  installation: Installation,
): Promise<VmRolloutDocument> {
  const { kubevirt, name, namespace } = installation
  const { inEffect, configured, byDefault, gate, served } = vmRolloutOf(kubevirt)
  const origin = await rolloutOrigin(reader, installation)
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'VmRollout',
    kubevirt: { name, namespace, ...(version !== undefined && { version }) },
    strategy: inEffect,
    meaning: meaning[inEffect],
    origin: origin.from,
    ...(configured !== undefined && { configured }),
    byDefault,
    path: rolloutPath.join('.'),
    gate,
    notes: rolloutNotes(
      kubevirt,
      { inEffect, byDefault, gate, served, ...(configured && { configured }) },
      origin,
    ),
  }
}

/** What is kept of the rows once they are printed. */
export class Told {
  readonly totals = { total: 0, duringUpgrade: 0, withFrozenHotplug: 0, reverted: 0 }
  readonly unread: Unread[] = []
  next: string | undefined
  readonly #restart: string
  #firmware = false

  /** `restart`: the command that restarts them. */
  constructor(restart: string) {
    this.#restart = restart
  }

  add(items: readonly RestartRequiredItem[], unread: readonly Unread[]): void {
    this.unread.push(...unread)
    for (const item of items) {
      this.totals.total += 1
      if (item.upgrade) this.totals.duringUpgrade += 1
      if (item.frozen.length > 0) this.totals.withFrozenHotplug += 1
      if (item.reverted) this.totals.reverted += 1
      if (item.lastStart !== 'not-running') this.next = this.#restart
      this.#firmware ||= item.changes.some(({ path }) => path === 'template.spec.domain.firmware.uuid')
    }
  }

  /** KubeVirt v1.5 and v1.6 wrote it into VMs (issues 16606 and 16719). */
  get remarks(): readonly string[] {
    if (!this.#firmware) return []
    return [
      'domain.firmware.uuid is what KubeVirt itself writes into VMs after an upgrade to v1.5 or v1.6: the guest keeps the UUID that it has',
    ]
  }
}

export function restartRequiredDocument(
  { kubevirt, name, namespace }: Installation,
  told: Pick<RestartRequiredDocument, 'asOf' | 'selection' | 'totals' | 'unread' | 'remarks' | 'next'>,
): RestartRequiredDocument {
  const version = kubevirt.status?.observedKubeVirtVersion
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'RestartRequired',
    kubevirt: { name, namespace, ...(version !== undefined && { version }) },
    strategy: vmRolloutOf(kubevirt).inEffect,
    revertingClears: revertingClears(versionOf(version)),
    ...told,
  }
}

export async function journalEntries(
  { cluster, clock }: ReadCluster,
  { namespace }: Installation,
): Promise<{ entries: readonly Entry[]; remarks: readonly string[] }> {
  try {
    return { entries: await configMapJournal(cluster, { namespace, who: '', clock }).entries(), remarks: [] }
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { entries: [], remarks: [`the upgrade that caused it is unknown: ${error.message}`] }
  }
}
