import { valueText } from '../../kube/text.ts'
import { isBefore, type Version, versionOf } from '../../releases/release-versions.ts'
import { valueAt } from '../../kube/server-side-apply.ts'
import { type KubeVirt, MigrationPolicies, type MigrationPolicy } from '../../kube/kinds/kubevirt-kinds.ts'
import type { KubeObject } from '../../kube/object.ts'
import { kubeVirtFields, passesOn, type SettingsOwner } from './settings-owner.ts'
import type { Reader } from '../../kube/cluster.ts'
import { known, type Known } from '../../kube/known.ts'
import { type Manager, managerOf } from '../../kubevirt/installation.ts'
import { isNotFound } from '../../kube/errors.ts'
import { goDuration } from '../../kube/duration.ts'
import { quantity } from '../../kube/quantity.ts'
import { sameMethods } from '../update-methods.ts'

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

const defineSetting = (
  place: Setting['in'],
  name: string,
  value: SettingValue,
  is: Setting['is'] = 'plain',
): Setting => ({ name, in: place, byDefault: () => value, is })

/** The settings by which KubeVirt updates and migrates VMs, with their defaults (facts 1.2 and 1.3). */
export const workloadSettings: readonly Setting[] = [
  defineSetting('strategy', 'workloadUpdateMethods', [], 'methods'),
  defineSetting('strategy', 'batchEvictionSize', 10),
  defineSetting('strategy', 'batchEvictionInterval', '1m0s', 'duration'),
  defineSetting('migrations', 'parallelMigrationsPerCluster', 5),
  defineSetting('migrations', 'parallelOutboundMigrationsPerNode', 2),
  defineSetting('migrations', 'bandwidthPerMigration', '0Mi', 'quantity'),
  {
    ...defineSetting('migrations', 'completionTimeoutPerGiB', 150, 'seconds'),
    byDefault: (version) => (isBefore(version, 4) ? 800 : 150),
  },
  defineSetting('migrations', 'progressTimeout', 150, 'seconds'),
  defineSetting('migrations', 'allowAutoConverge', false),
  defineSetting('migrations', 'allowPostCopy', false),
  defineSetting('migrations', 'network', null),
]

/** Fixed in KubeVirt, seconds since the target pod was made; an annotation of one migration overrides it (facts 3.3). */
const pendingTimeouts = [
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

/** What holds now, and who says so. */
export interface EffectiveSetting {
  name: string
  value: SettingValue
  /** Of a number or a quantity; absent for a count. */
  unit?: 'seconds' | 'bytes per second'
  /** `default`: nobody says it, and this is what KubeVirt does in its version. */
  origin: 'KubeVirt' | 'HyperConverged' | 'default'
  /** Where it is written; absent for what cannot be set. */
  path?: string
  note?: string
}

/** `holding` is the owner as it was read, `kubevirt` the CR that takes effect. Pure. */
export const effectiveSettings = (
  owner: SettingsOwner,
  holding: KubeObject,
  kubevirt: KubeVirt,
): readonly EffectiveSetting[] => [
  ...workloadSettings.map((setting) => effective(setting, { owner, holding, kubevirt })),
  ...pendingTimeouts,
]

function effective(
  setting: Setting,
  { owner, holding, kubevirt }: { owner: SettingsOwner; holding: KubeObject; kubevirt: KubeVirt },
): EffectiveSetting {
  const { name } = setting
  const path = [...owner[setting.in], name]
  const inEffect = valueAt(kubevirt, [...kubeVirtFields[setting.in], name])
  const byDefault = setting.byDefault(versionOf(kubevirt.status?.observedKubeVirtVersion))
  const value = isSaid(inEffect) ? (inEffect as SettingValue) : byDefault
  const shown = { name, value, ...units[setting.is], path: path.join('.') }
  const onCr = isSaid(inEffect) ? 'KubeVirt' : 'default'
  const said = passesOn(owner) ? valueAt(holding, path) : undefined
  if (!isSaid(said)) return { ...shown, origin: onCr }
  if (sameValue(setting, said, value)) return { ...shown, origin: 'HyperConverged' }
  return {
    ...shown,
    origin: onCr,
    note: `HyperConverged has ${valueText(said)}: not passed on yet, or overridden by an annotation kubevirt.kubevirt.io/jsonpatch`,
  }
}

const units: { [I in Setting['is']]?: Pick<EffectiveSetting, 'unit'> } = {
  seconds: { unit: 'seconds' },
  quantity: { unit: 'bytes per second' },
}

/** In which a setting of this name is shown. */
function unitOf(name: string): Pick<EffectiveSetting, 'unit'> {
  const setting = workloadSettings.find((one) => one.name === name)
  return (setting && units[setting.is]) ?? {}
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null

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

/** The same setting, however it is written: `60s` is `1m0s`, `1024Mi` is `1Gi`, and methods have no order. */
export function sameValue({ is }: Pick<Setting, 'is'>, one: unknown, other: unknown): boolean {
  if (is === 'methods') return sameMethods(methodsFrom(one), methodsFrom(other))
  const [a, b] = [one, other].map((value) => comparable(is, value))
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}

/** HyperConverged passes an empty list on as none (hco 5). */
const methodsFrom = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [])

function comparable(is: Setting['is'], value: unknown): unknown {
  if (is === 'quantity') return quantity(value) ?? value
  return is === 'duration' && typeof value === 'string' ? (goDuration(value) ?? value) : value
}
