import type { UpgradePlan } from './plan.ts'

/** The risk that going back takes once this component is new (night U4). */
const riskOf: Readonly<Record<string, string>> = { 'virt-handler': '', 'virt-api': ' --accept downgrade' }

/**
 * The command that goes back to what is installed now, while this step or `component` is at work; `none` where nothing was installed or
 * the plan itself is the way back. A new operator stays, and takes the components back by a tag (night U4).
 */
export function undoOf({ from, to, method }: UpgradePlan, component?: string): string {
  if (from === undefined || from === to.text || method === 'olm') return 'none'
  const by = method === 'operator-manifest' ? ' --method image-tag' : ''
  const risk = component === undefined ? '' : (riskOf[component] ?? ' --accept way-back')
  return `kvup upgrade --to ${from}${by}${risk}`
}
