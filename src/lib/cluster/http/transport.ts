import { type Clock, ticks } from '../../system/clock.ts'
import type { HeardDate } from '../cluster-clock.ts'
import { type Answer, header } from './answer.ts'
import type { Message } from './connections.ts'
import type { Access } from './credentials.ts'
import { saidDate } from './said-date.ts'
import type { Trace } from './trace.ts'
import { warningTexts } from './warnings.ts'

export interface TransportTools {
  /** The local one. */
  clock: Clock
  heard?: ((date: HeardDate) => void) | undefined
  trace: Trace
  onWarning: (text: string) => void
}

/** Sends one request once, with our credentials, and shows it to the trace. Rejects with what the socket said. */
export async function exchange(message: Message, access: Access, tools: TransportTools): Promise<Answer> {
  const { url, method, body } = message
  const headers = { ...message.headers, ...access.headers }
  const sent = tools.clock.now().getTime()
  const began = ticks(tools.clock)
  tools.trace.asked({ method, url, headers, body })
  const since = () => Math.round(ticks(tools.clock) - began)
  try {
    const answer = await access.send({ ...message, headers })
    const ms = since()
    tools.trace.answered({ method, url, status: answer.status, ms })
    const date = saidDate(answer)
    if (date !== undefined) tools.heard?.({ date, sent, received: sent + ms })
    for (const text of warningTexts(header(answer, 'warning'))) tools.onWarning(text)
    return answer
  } catch (error) {
    tools.trace.failed({ method, url, error, ms: since() })
    throw error
  }
}
