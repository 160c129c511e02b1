import type { UpgradePlan } from './plan.ts'

/** The risk that going back takes once this component is new (night U4). */
const riskOf: Readonly<Record<string, string>> = { 'virt-handler': '', 'virt-api': ' --accept downgrade' }

/**
 * The command that goes back to what is installed now, while this step or `component` is at work; `none` where nothing was installed, the plan
 * itself is the way back, or the CRDs are replaced by then and do not go back. A new operator stays, and takes the components back by a
 * tag (night U4).
 */
export function undoOf({ from, to, method, wayBack }: UpgradePlan, component?: string): string {
  if (from === undefined || from === to.text || method === 'olm') return 'none'
  const by = method === 'operator-manifest' ? ' --method image-tag' : ''
  const command = `kvup upgrade --to ${from}${by}`
  if (wayBack.is === 'open') return command + riskTaken(component)
  return wayBack.is === 'closed' || component !== undefined
    ? `none: ${wayBack.why}`
    : `${command}     until the CRDs are replaced: ${wayBack.why}`
}

function riskTaken(component: string | undefined): string {
  return component === undefined ? '' : (riskOf[component] ?? ' --accept way-back')
}
