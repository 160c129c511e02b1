import type { Doubt } from '../../facts/doubts.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import type { Owner } from '../../workloads/update-methods.ts'
import { look, lookFollows } from '../look.ts'
import { Patience } from '../patience.ts'
import { Broken } from './broken.ts'
import { stalledOr } from './stalled.ts'
import { ticks } from '../../system/clock.ts'
import { minutes, seconds } from '../../system/units.ts'

export interface SettledFor {
  id: string
  title: string
  /** Absent: whichever version is installed. */
  version?: string
  /** ms without a bad look in between. */
  settleMs: number
  /** How long doubts are waited for as well; absent: they are only named. */
  patience?: Patience
}

/**
 * Done means Settled, and so for a while: Available once is no proof, the real operator was seen to fall back to
 * DeploymentFailed 4 s later and heal (lab README, Seen 2). Any worse look starts the clock again. A doubt is waited for no longer
 * than the patience lasts, and is named then.
 */
export function settledFor(owner: Owner, { id, title, version, settleMs, patience }: SettledFor): Step {
  let goodSince: number | undefined
  const broken = new Broken()
  return {
    id,
    title,
    patience: { every: Math.min(5 * seconds, Math.max(settleMs / 4, 250)), atMost: 60 * minutes },
    estimate: settleMs + 5 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const seen = await look(cx, owner)
      const { standing } = seen
      const now = ticks(cx.clock)
      patience?.saw(seen, now)
      const end = broken.after(seen.faults, now)
      if (end !== undefined) return end
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
      goodSince ??= now
      const held = now - goodSince
      if (held < settleMs)
        return { is: 'waiting', on: `it to stay settled for ${Math.round(settleMs / seconds)}s` }
      const [doubt] = patience?.waitsFor(standing.doubts, now) ?? []
      return doubt ? waitingFor(doubt) : doneAfter(held, settleMs, standing.doubts)
    },
  }
}

/** KubeVirt says that it is done: what is waited for beyond that, and that it is not for long. */
export const waitingFor = ({ sentence, look: remedy }: Doubt): StepState => ({
  is: 'waiting',
  on: `KubeVirt says that it is done; for 2m at most: ${sentence}`,
  remedy,
})

function doneAfter(held: number, settleMs: number, doubts: readonly Doubt[]): StepState {
  const notes = [
    ...(settleMs > 0 ? [`settled for ${Math.round(held / seconds)}s`] : []),
    ...doubts.map(({ sentence }) => sentence),
  ]
  return { is: 'done', ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** The first of the two rolls of night U2: the new operator takes the pinned version over. */
export function settledAtOldVersion(
  owner: Owner,
  { version, settleMs }: { version: string; settleMs: number },
): Step {
  const title = `settle at ${version} under the new operator`
  const patience = new Patience()
  return settledFor(owner, { id: 'settled-at-old-version', title, version, settleMs, patience })
}
