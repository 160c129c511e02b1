import { shellWord } from '../../system/shell-word.ts'
import { methodsOf } from '../update-methods.ts'
import { isRepeated, type Migration } from './migration.ts'
import { keptByKubeVirt, type PastMigrations } from './ledger.ts'
import type { MigrationsLook } from './look.ts'
import type { Mover } from './movers.ts'

/** A VMI whose migrations fail. */
export interface Failing {
  inARow: number
  /** KubeVirt keeps five: more may have failed than it still knows of (facts 3.3). */
  kept: number
  /** What KubeVirt says of the last one; undefined: nothing. */
  reason?: string
  /** RFC 3339, of the last one. */
  at?: string
  /** KubeVirt will make another one; it does so without end (lab "Seen with workloads" 5). */
  again: boolean
  /** All that are kept failed: waiting does not mend it (night W8). */
  endless: boolean
  sentence: string
  remedy: readonly string[]
}

/** What is to be said of failures in a row, of which there is at least one; `open`: another one is under way already. Pure. */
export function failingOf(
  { kept, failures }: PastMigrations,
  mover: Mover | undefined,
  { look, open }: { look: MigrationsLook; open: boolean },
): Failing | undefined {
  const [last] = failures
  if (last === undefined) return undefined
  const again = open || triesAgain(last, mover, look)
  const endless = again && failures.length >= keptByKubeVirt
  const { failureReason: reason } = last
  return {
    inARow: failures.length,
    kept,
    ...(reason !== undefined && { reason }),
    ...(last.since !== undefined && { at: last.since }),
    again,
    endless,
    sentence: `${timesText(failures.length, { kept, again, endless })}${reason ? `: ${reason}` : ''}`,
    remedy: remedyOf(last, { endless, mover }),
  }
}

/** The updater does while the VMI is outdated and LiveMigrate is among the methods, a drain while the VMI is to leave its node. */
function triesAgain(last: Migration, mover: Mover | undefined, { kubevirt }: MigrationsLook): boolean {
  if (mover === undefined || !isRepeated(last)) return false
  if (last.by === 'evacuation') return mover.evacuating !== undefined
  return mover.outdated && (kubevirt === undefined || methodsOf(kubevirt).includes('LiveMigrate'))
}

function timesText(
  times: number,
  { kept, again, endless }: Pick<Failing, 'kept' | 'again' | 'endless'>,
): string {
  if (endless) return `failed ${times} of ${kept} kept; KubeVirt will never give up`
  const text = times === 1 ? 'failed once' : `failed ${times} times in a row`
  return again ? `${text}; KubeVirt tries again` : `${text}; KubeVirt does not try again`
}

/** What QEMU says when the CPU or a device of the guest is not to be had on the target: no further try helps (issue 16386). */
const incompatible = /guest CPU|extra features|unsupported feature|machine type|features 0x/iu
const tooSlow = /not completed after|has been stuck|stalled|timed? ?out|no progress/iu

function remedyOf(
  { namespace, vmi, failureReason = '' }: Migration,
  { endless, mover }: { endless: boolean; mover: Mover | undefined },
): readonly string[] {
  const [name, place] = [shellWord(vmi), shellWord(namespace)]
  const look = `kubectl -n ${place} describe vmi ${name}`
  if (mover === undefined) return []
  if (incompatible.test(failureReason)) return [look, `virtctl restart ${name} -n ${place}`]
  if (tooSlow.test(failureReason)) return [look, 'kvup workloads strategy show']
  return endless ? [look, `virtctl restart ${name} -n ${place}`] : [look]
}
