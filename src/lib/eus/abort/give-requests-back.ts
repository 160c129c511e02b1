import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { loanNamed } from '../loans/find-borrowed.ts'
import { platformChannel } from '../loans/fields.ts'
import { giveField } from '../loans/give.ts'
import { ourRequest } from '../steps/kept-request.ts'
import { readPlatform, platformFollows, showsPlatform } from '../steps/platform-now.ts'
import { lookedAt } from '../steps/request-update.ts'
import { withdraw } from '../steps/update-accepted.ts'

/** Takes back what was asked for and never accepted, and nothing that somebody else asked for (night E2, E6). */
export function withdrawRequest(name: string): Step {
  return {
    id: 'withdraw-request',
    title: 'take the request for an update back',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: platformFollows,
    risk: { undo: 'kvup eus run     asks again', safeToLeave: 'always' },
    shows: showsPlatform,
    async check({ reader, journal }): Promise<StepState> {
      const { standing } = await readPlatform(reader)
      const ours = await ourRequest(journal, name, standing.armed)
      if (ours) return { is: 'todo', change: `take the request for ${ours.version} back` }
      return loanNamed(await journal.loans(), 'desired-update')
        ? { is: 'todo', change: 'close the loan of desiredUpdate: nothing of ours is requested' }
        : { is: 'done' }
    },
    apply: (cx) => withdraw(cx, name),
  }
}

/** The channel as it was, where no hop was accepted; past one it stays, and the loan is closed with that reason. */
export async function channelBack({ reader }: ReadContext, isAccepted: boolean): Promise<Step> {
  const { cv } = await readPlatform(reader)
  return giveField(platformChannel(lookedAt(cv), cv.spec?.channel ?? ''), {
    id: 'give-back-platform-channel',
    title: 'give the channel back',
    ...(isAccepted && { closeBecause: 'a hop was accepted: a channel does not go back past it' }),
  })
}
