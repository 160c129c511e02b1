import { valueAt } from '../../cluster/apply/field-path.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { KubeObject } from '../../cluster/object.ts'
import { versionOf } from '../../releases/version.ts'
import { valueText } from '../../system/value-text.ts'
import { kubeVirtFields, passesOn, type SettingsOwner } from './owner.ts'
import { sameValue } from './same-value.ts'
import { pendingTimeouts, type Setting, settings, type SettingValue } from './settings.ts'

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
export function effectiveSettings(
  owner: SettingsOwner,
  holding: KubeObject,
  kubevirt: KubeVirt,
): readonly EffectiveSetting[] {
  return [...settings.map((setting) => effective(setting, { owner, holding, kubevirt })), ...pendingTimeouts]
}

interface Seen {
  owner: SettingsOwner
  holding: KubeObject
  kubevirt: KubeVirt
}

function effective(setting: Setting, { owner, holding, kubevirt }: Seen): EffectiveSetting {
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
    note: `HyperConverged says ${valueText(said)}: not passed on yet, or overridden by an annotation kubevirt.kubevirt.io/jsonpatch`,
  }
}

const units: { [I in Setting['is']]?: Pick<EffectiveSetting, 'unit'> } = {
  seconds: { unit: 'seconds' },
  quantity: { unit: 'bytes per second' },
}

/** In which a setting of this name is shown. */
export function unitOf(name: string): Pick<EffectiveSetting, 'unit'> {
  const setting = settings.find((one) => one.name === name)
  return (setting && units[setting.is]) ?? {}
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null
