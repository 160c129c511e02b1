import { valueText } from '../../system/value-text.ts'
import type { EffectiveSetting } from '../../workloads/strategy/effective-settings.ts'

/** `150 s`, `64Mi/s`, `no limit`, `LiveMigrate, Evict`. */
export function settingText({ value, unit }: Pick<EffectiveSetting, 'value' | 'unit'>): string {
  if (unit === 'seconds') return `${valueText(value)} s`
  if (unit === undefined) return valueText(value)
  return /^0[a-zA-Z]*$/u.test(String(value)) ? 'no limit' : `${valueText(value)}/s`
}
