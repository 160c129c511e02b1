import type { Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { stalledOr } from './stalled.ts'
import { minutes, seconds } from '../../system/units.ts'

export interface SettledFor {
  id: string
  title: string
  /** Absent: whichever version is installed. */
  version?: string
  /** ms without a bad look in between. */
  settleMs: number
}

/**
 * Done means Settled, and so for a while: Available once is no proof, the real operator was seen to fall back to
 * DeploymentFailed 4 s later and heal (lab README, Seen 2). Any worse look starts the clock again.
 */
export function settledFor(owner: Owner, { id, title, version, settleMs }: SettledFor): Step {
  let goodSince: number | undefined
  return {
    id,
    title,
    patience: { every: Math.min(5 * seconds, Math.max(settleMs / 4, 250)), atMost: 60 * minutes },
    estimate: settleMs + 5 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const { standing } = await look(cx, owner)
      if (
        standing.verdict !== 'Settled' ||
        (version !== undefined && standing.observed.version !== version)
      ) {
        goodSince = undefined
        const on =
          standing.verdict === 'Settled'
            ? `${version} to be observed`
            : (standing.waitingFor ?? 'KubeVirt to settle')
        return stalledOr(standing, undefined, { is: 'waiting', on })
      }
      const now = cx.clock.now().getTime()
      goodSince ??= now
      const held = now - goodSince
      if (held >= settleMs)
        return { is: 'done', ...(settleMs > 0 && { note: `settled for ${Math.round(held / seconds)}s` }) }
      return {
        is: 'waiting',
        on: `it to stay settled for ${Math.round(settleMs / seconds)}s`,
      }
    },
  }
}

/** The first of the two rolls of night U2: the new operator takes the pinned version over. */
export function settledAtOldVersion(
  owner: Owner,
  { version, settleMs }: { version: string; settleMs: number },
): Step {
  const title = `settle at ${version} under the new operator`
  return settledFor(owner, { id: 'settled-at-old-version', title, version, settleMs })
}
