import { configMapJournal } from '../../engine/journal-config-map.ts'
import type { Entry } from '../../engine/journal.ts'
import { versionOf } from '../../releases/release-versions.ts'
import { KvupError } from '../../kube/errors.ts'
import type { RestartRequiredItem, Unread } from './restart-required.ts'
import {
  meaning,
  revertingClears,
  rolloutNotes,
  rolloutOrigin,
  type RolloutOrigin,
  rolloutPath,
  type RolloutStrategy,
  type VmRollout,
  vmRolloutOf,
} from './rollout-strategy.ts'
import type { ReadCluster } from '../../kubevirt/read-cluster.ts'
import type { Installation } from '../../kubevirt/installation.ts'
import type { Reader } from '../../kube/cluster.ts'
import type { DryRunStep } from '../../engine/procedure-dry-run.ts'

/** `kvup rollout show` and `set`. */
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
  /** Only of `set`. `rehearsed`: a dry run. */
  outcome?: 'set' | 'already-so' | 'rehearsed'
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
  unread: readonly { namespace?: string; what: string; why: string }[]
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
    return { entries: [], remarks: [`since which upgrade is not known: ${error.message}`] }
  }
}
