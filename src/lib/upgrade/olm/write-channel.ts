import { Subscriptions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { StepContext } from '../../procedure/step.ts'
import { type ChannelOf, keepChannel } from './kept-channel.ts'
import type { OlmPart } from './olm-part.ts'
import { lookAtOperator } from './operator-scene.ts'

/** Sets a Subscription's channel and keeps what it was; refused (422) where somebody else wrote since it was read. */
export async function writeChannel(
  { reader, writer, journal }: Pick<StepContext, 'reader' | 'writer' | 'journal'>,
  at: Pick<OlmPart, 'subscription'>,
  { channel, ...of }: ChannelOf & { channel: string },
): Promise<void> {
  const { metadata, spec } = (await lookAtOperator(reader, at)).subscription
  const { namespace, name } = at.subscription
  await keepChannel(journal, of, spec?.channel)
  await writer.jsonPatch(Subscriptions, { namespace, name }, [
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    { op: 'add', path: '/spec/channel', value: channel },
  ])
}

/** In the words of a step. */
export const channelChange = (name: string, now: string | undefined, channel: string): string =>
  `set the channel of subscription ${name} from ${now ?? 'none'} to ${channel}`
