import type { VmReason, VmTroubles } from '../../facts/health/vm-troubles.ts'
import { brief } from '../brief.ts'
import { count as counted } from '../count.ts'

/** `2 of 200 VMs that should run have a problem`, and below it each reason; nothing where none has. */
export function vmTroubleLines({ count, shouldRun, reasons, partly }: VmTroubles): readonly string[] {
  if (count === 0) return []
  const of = shouldRun === undefined ? counted(count, 'VM') : `${count} of ${counted(shouldRun, 'VM')}`
  const left = count - reasons.reduce((sum, reason) => sum + reason.count, 0)
  return [
    `${of} that should run ${count === 1 ? 'does' : 'do'} not run as ${count === 1 ? 'it' : 'they'} should${partly === undefined ? '' : ` (${partly})`}`,
    ...reasons.map(reasonText),
    ...(left > 0 ? [`${left} for other reasons`] : []),
  ]
}

function reasonText({ count, status, message, examples }: VmReason): string {
  const more = count > examples.length ? ' …' : ''
  const said = message === '' ? '' : `: ${brief(message)}`
  return `${count} ${status}${said} (${examples.map(brief).join(', ')}${more})`
}
