import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { MigrationPolicy } from '../../cluster/kinds/migration-policies.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { guestMemory } from '../../facts/guest-memory.ts'
import { versionOf } from '../../releases/version.ts'
import { quantity } from '../../system/quantity.ts'
import { settings } from '../strategy/settings.ts'

/** From … to, in seconds. */
export interface Span {
  low: number
  high: number
}

/** What bounds one migration. */
export interface MigrationSpeed {
  /** Bytes per second; 0: no limit. */
  bandwidth: number
  completionTimeoutPerGiB: number
}

/** The cluster's, from the KubeVirt CR, else KubeVirt's default for its version (facts 1.3). */
export function speedOf({ spec, status }: KubeVirt): MigrationSpeed {
  const set = (spec?.configuration?.['migrations'] ?? {}) as Record<string, unknown>
  const version = versionOf(status?.observedKubeVirtVersion)
  const value = (name: string) => set[name] ?? settings.find((one) => one.name === name)?.byDefault(version)
  return {
    bandwidth: quantity(value('bandwidthPerMigration')) ?? 0,
    completionTimeoutPerGiB: Number(value('completionTimeoutPerGiB')),
  }
}

/** What a policy says holds for its VMIs, the rest is the cluster's. */
export function speedBy(policy: MigrationPolicy | undefined, cluster: MigrationSpeed): MigrationSpeed {
  const { bandwidthPerMigration, completionTimeoutPerGiB } = policy?.spec ?? {}
  return {
    bandwidth: quantity(bandwidthPerMigration) ?? cluster.bandwidth,
    completionTimeoutPerGiB: completionTimeoutPerGiB ?? cluster.completionTimeoutPerGiB,
  }
}

const gibi = 2 ** 30
/** The target pod has to start as well. */
const starting: Span = { low: 3, high: 30 }
/** Where no limit is set: bytes per second of a link of 25 Gbit/s, and of one of 1 Gbit/s. */
const links = { fast: 3.125e9, slow: 0.125e9 }
/** Pages that the guest never wrote to are not sent; those that it goes on writing to are sent again. */
const sent: Span = { low: 0.25, high: 3 }

/** By this VMI's last migration where that succeeded; else by its memory, at most what KubeVirt gives it time for. Pure. */
export function migrationSpan(vmi: VirtualMachineInstance, speed: MigrationSpeed): Span {
  const last = lastMigration(vmi)
  if (last !== undefined) return { low: last / 2 + starting.low, high: last * 2 + starting.high }
  const memory = guestMemory(vmi)
  const { fast, slow } = speed.bandwidth > 0 ? { fast: speed.bandwidth, slow: speed.bandwidth } : links
  const patience = speed.completionTimeoutPerGiB * Math.max(1, memory / gibi)
  return {
    low: starting.low + (memory * sent.low) / fast,
    high: starting.high + Math.min((memory * sent.high) / slow, patience),
  }
}

function lastMigration({ status }: VirtualMachineInstance): number | undefined {
  const { startTimestamp = '', endTimestamp = '', completed, failed } = status?.migrationState ?? {}
  const took = (Date.parse(endTimestamp) - Date.parse(startTimestamp)) / 1000
  return completed === true && failed !== true && took > 0 ? took : undefined
}
