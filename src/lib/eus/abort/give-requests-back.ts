import { ClusterVersions } from '../../cluster/kinds/openshift.ts'
import type { Loan } from '../../procedure/journal.ts'
import { closeNoted } from '../../procedure/saved-value.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import type { Meanwhile } from '../../workloads/restore.ts'
import { loanNamed } from '../loans/find-borrowed.ts'
import { platformChannel } from '../loans/fields.ts'
import { giveField } from '../loans/give.ts'
import { ourRequest } from '../steps/kept-request.ts'
import { readPlatform, platformFollows, showsPlatform, theClusterVersion } from '../steps/read-platform.ts'
import { lookedAt } from '../steps/request-update.ts'
import { withdraw } from '../steps/update-accepted.ts'

/**
 * Takes back what was asked for and never accepted, and nothing that somebody else asked for (night E2, E6). Who keeps what is there keeps the request too: it is
 * theirs from then on.
 */
export function withdrawRequest(name: string, meanwhile: Meanwhile = 'ask'): Step {
  return {
    id: 'withdraw-request',
    title: 'take the request for an update back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: platformFollows,
    risk: { undo: 'kvup eus run     asks again', safeToLeave: 'always' },
    shows: showsPlatform,
    async check({ reader, journal }): Promise<StepState> {
      if (meanwhile === 'keep-current') return keeping(await journal.loans())
      const ours = await ourRequest(journal, name, await readPlatform(reader))
      if (ours) return { is: 'todo', change: `take the request for ${ours.version} back` }
      return loanNamed(await journal.loans(), 'desired-update')
        ? {
            is: 'todo',
            change: 'note desiredUpdate of the ClusterVersion as given back: nothing of ours is requested',
          }
        : { is: 'done' }
    },
    apply: (cx) =>
      meanwhile === 'keep-current'
        ? closeNoted(
            cx,
            { kind: ClusterVersions, ref: theClusterVersion },
            ['desired-update'],
            'left as it is',
          )
        : withdraw(cx, name),
  }
}

function keeping(loans: readonly Loan[]): StepState {
  return loanNamed(loans, 'desired-update')
    ? {
        is: 'todo',
        change: 'leave desiredUpdate of the ClusterVersion as it is, and note it as borrowed no more',
      }
    : { is: 'done' }
}

/**
 * The channel as it was, where no hop was accepted and it is still the one that kvup has set; past a hop it stays, and the loan is closed with that
 * reason.
 */
export async function channelBack(
  { reader, journal }: ReadContext,
  { isAccepted, meanwhile = 'ask' }: { isAccepted: boolean; meanwhile?: Meanwhile },
): Promise<Step> {
  const { cv } = await readPlatform(reader)
  const taken = loanNamed(await journal.loans(), 'platform-channel')?.taken?.value
  return giveField(platformChannel(lookedAt(cv), typeof taken === 'string' ? taken : ''), {
    id: 'give-back-platform-channel',
    title: 'give the channel back',
    meanwhile,
    ...(isAccepted && { closeBecause: 'a hop was accepted: a channel does not go back past it' }),
  })
}
