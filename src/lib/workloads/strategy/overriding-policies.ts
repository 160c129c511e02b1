import type { Reader } from '../../cluster/cluster.ts'
import { MigrationPolicies, type MigrationPolicy } from '../../cluster/kinds/migration-policies.ts'
import { known, type Known } from '../../facts/known.ts'
import { type Manager, managerOf } from '../../facts/ownership.ts'
import { isNotFound } from '../../system/errors.ts'
import { type EffectiveSetting, unitOf } from './effective-settings.ts'
import type { SettingValue } from './settings.ts'

type Labels = Readonly<Record<string, string>>

/** A MigrationPolicy: for the VMs that it selects its values hold and not the cluster's. */
export interface OverridingPolicy {
  name: string
  /** All of them have to be there; of several policies the one that names most labels holds. Absent: it selects no VM. */
  selects?: { namespaces: Labels; instances: Labels }
  /** Who would set it back, where somebody is named. */
  manager?: Manager
  overrides: readonly OverriddenSetting[]
}

/** One setting of a policy. */
export interface OverriddenSetting extends Pick<EffectiveSetting, 'name' | 'value' | 'unit'> {
  /** What holds for all other VMs, where kvup shows it. */
  cluster?: SettingValue
}

/** The fields of a policy that are settings (kubevirt.io/api migrations/v1alpha1, MigrationPolicySpec). */
const fields = [
  'bandwidthPerMigration',
  'completionTimeoutPerGiB',
  'allowAutoConverge',
  'allowPostCopy',
  'allowWorkloadDisruption',
] as const

/** None where the kind is not served; unknown where they may not be read. Throws ApiError but 403 and 404. */
export function readMigrationPolicies(reader: Reader): Promise<Known<MigrationPolicy>> {
  return known(
    reader.list(MigrationPolicies).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
      return []
    }),
  )
}

/** Those that say something, by name, beside what holds for the cluster. Pure. */
export function overridingPolicies(
  policies: readonly MigrationPolicy[],
  settings: readonly EffectiveSetting[],
): readonly OverridingPolicy[] {
  return policies
    .map((policy) => overriding(policy, settings))
    .filter(({ overrides }) => overrides.length > 0)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function overriding(policy: MigrationPolicy, settings: readonly EffectiveSetting[]): OverridingPolicy {
  const { selectors } = policy.spec ?? {}
  const manager = managerOf(policy)
  return {
    name: policy.metadata.name,
    ...(selectors && {
      selects: {
        namespaces: selectors.namespaceSelector ?? {},
        instances: selectors.virtualMachineInstanceSelector ?? {},
      },
    }),
    ...(manager && { manager }),
    overrides: fields.flatMap((name) => overridden(name, policy, settings)),
  }
}

function overridden(
  name: (typeof fields)[number],
  { spec }: MigrationPolicy,
  settings: readonly EffectiveSetting[],
): readonly OverriddenSetting[] {
  const value = spec?.[name]
  if (value === undefined || value === null) return []
  const cluster = settings.find((setting) => setting.name === name)
  return [{ name, value, ...unitOf(name), ...(cluster && { cluster: cluster.value }) }]
}
