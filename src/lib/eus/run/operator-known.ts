import type { ReadContext } from '../../procedure/step.ts'
import { blocked } from '../../system/errors.ts'
import { roleRemedy } from '../../system/role-remedy.ts'
import { operatorMinorIn } from '../steps/operator-in-step.ts'
import type { EusWindow } from './window.ts'

/**
 * True where there is no operator, or it says of which release it is. Throws `blocked` where it does not say: that nothing is left to do would not be
 * known, and whether anything is neither.
 */
export async function isOperatorKnown(
  { plan, manager, releases }: Pick<EusWindow, 'plan' | 'manager' | 'releases'>,
  { reader }: Pick<ReadContext, 'reader'>,
): Promise<boolean> {
  if (plan.operator === undefined && manager.kind !== 'hyperconverged') return true
  const { minor, version, why } = await operatorMinorIn(reader, releases)
  if (minor !== undefined) return true
  const said = version === undefined ? why.join('; ') : `it says ${version}, which no row of the table has`
  throw blocked(
    'operator-unknown',
    `the platform is there, but of which minor the operator is cannot be told${said === '' ? '' : `: ${said}`}`,
    {
      object: 'hyperconvergeds.hco.kubevirt.io',
      remedy: [
        'oc get hyperconvergeds.hco.kubevirt.io -A -o yaml     its status.versions says it',
        roleRemedy('kvup-olm'),
      ],
    },
  )
}
