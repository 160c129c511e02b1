import type { Journal, JournalReader } from '../../procedure/journal.ts'
import type { Step, StepState } from '../../procedure/step.ts'
import { channelCommand } from './channel-command.ts'
import type { OlmPart } from './olm-part.ts'
import { lookAtOperator } from './operator-scene.ts'

/** Of which hop of which procedure: its key in the journal, forgotten when that is finished. */
export interface ChannelOf {
  procedure: string
  /** The hop's: its version, or the minor of the platform. */
  label: string
}

const keyOf = ({ procedure, label }: ChannelOf): string => `${procedure}/operator-channel/${label}`

/** What a Subscription's channel was before a hop set another one; the first value stays. Throws where the journal cannot be written. */
export async function keepChannel(
  journal: Journal,
  of: ChannelOf,
  channel: string | undefined,
): Promise<void> {
  if (channel !== undefined) await journal.keep(keyOf(of), { channel })
}

async function keptChannel(journal: JournalReader, of: ChannelOf): Promise<string | undefined> {
  const found = (await journal.kept(keyOf(of))) as { channel?: unknown } | undefined
  return typeof found?.channel === 'string' ? found.channel : undefined
}

/** The same step, whose refusals say which line sets the channel back to what it was before this hop. */
export function withChannelBack(step: Step, of: ChannelOf, subscription: OlmPart['subscription']): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'blocked' && state.is !== 'stalled') return state
      const before = await keptChannel(cx.journal, of)
      if (before === undefined) return state
      const now = (await lookAtOperator(cx.reader, { subscription })).subscription.spec?.channel
      if (now === before) return state
      const line = `${channelCommand(subscription, before)}     sets the channel back to what it was, as long as nothing of ${now ?? 'the new one'} is approved`
      return { ...state, remedy: [...(state.remedy ?? []), line] }
    },
  }
}
