import type { Version } from '../../releases/version.ts'

export type SettingValue = string | number | boolean | readonly string[] | null

/** One field of the KubeVirt CR that decides how its VMs follow. */
export interface Setting {
  /** The field's name, the same on HyperConverged (hco 2). */
  name: string
  in: 'strategy' | 'migrations'
  /** What KubeVirt does where the field is absent; the newest one's where the version is not known. */
  byDefault(version: Version | undefined): SettingValue
  /** How two ways to write the same value are told from two values. */
  is: 'methods' | 'duration' | 'quantity' | 'seconds' | 'plain'
}

const setting = (
  place: Setting['in'],
  name: string,
  value: SettingValue,
  is: Setting['is'] = 'plain',
): Setting => ({ name, in: place, byDefault: () => value, is })

/** facts 1.2 and 1.3. */
export const settings: readonly Setting[] = [
  setting('strategy', 'workloadUpdateMethods', [], 'methods'),
  setting('strategy', 'batchEvictionSize', 10),
  setting('strategy', 'batchEvictionInterval', '1m0s', 'duration'),
  setting('migrations', 'parallelMigrationsPerCluster', 5),
  setting('migrations', 'parallelOutboundMigrationsPerNode', 2),
  setting('migrations', 'bandwidthPerMigration', '0Mi', 'quantity'),
  {
    ...setting('migrations', 'completionTimeoutPerGiB', 150, 'seconds'),
    byDefault: (version) => (isBefore(version, 4) ? 800 : 150),
  },
  setting('migrations', 'progressTimeout', 150, 'seconds'),
  setting('migrations', 'allowAutoConverge', false),
  setting('migrations', 'allowPostCopy', false),
  setting('migrations', 'network', null),
]

/** Before v1.MINOR. */
function isBefore(version: Version | undefined, minor: number): boolean {
  return version !== undefined && (version.major < 1 || (version.major === 1 && version.minor < minor))
}

/** Fixed in KubeVirt, seconds since the target pod was made; an annotation of one migration overrides it (facts 3.3). */
export const pendingTimeouts = [
  {
    name: 'unschedulablePodTimeout',
    value: 300,
    unit: 'seconds',
    origin: 'default',
    note: 'fixed; kubevirt.io/migrationUnschedulablePodTimeoutSeconds on a migration overrides it',
  },
  {
    name: 'pendingPodTimeout',
    value: 900,
    unit: 'seconds',
    origin: 'default',
    note: 'fixed; kubevirt.io/migrationPendingPodTimeoutSeconds on a migration overrides it',
  },
] as const
