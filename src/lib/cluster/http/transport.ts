import { request } from 'undici'
import type { Clock } from '../../system/clock.ts'
import { type Answer, header } from './answer.ts'
import type { Access } from './credentials.ts'
import type { Headers } from './impersonation.ts'
import type { Trace } from './trace.ts'
import { warningTexts } from './warnings.ts'

export interface Message {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Headers
  body: string | undefined
  signal: AbortSignal | undefined
}

export interface TransportTools {
  clock: Clock
  trace: Trace
  onWarning: (text: string) => void
}

/** Sends one request once, and shows it to the trace. Rejects with what the socket said. */
export async function exchange(message: Message, access: Access, tools: TransportTools): Promise<Answer> {
  const { url, method, body, signal } = message
  const headers = { ...message.headers, ...access.headers }
  const began = tools.clock.now().getTime()
  tools.trace.asked({ method, url, headers, body })
  const since = () => tools.clock.now().getTime() - began
  try {
    const {
      statusCode,
      headers: answered,
      body: stream,
    } = await request(url, {
      dispatcher: access.dispatcher,
      method,
      headers,
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    })
    const answer: Answer = { status: statusCode, headers: answered, body: stream }
    tools.trace.answered({ method, url, status: statusCode, ms: since() })
    for (const text of warningTexts(header(answer, 'warning'))) tools.onWarning(text)
    return answer
  } catch (error) {
    tools.trace.failed({ method, url, error, ms: since() })
    throw error
  }
}
