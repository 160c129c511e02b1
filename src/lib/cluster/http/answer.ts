import type { Readable } from 'node:stream'

/** What came back, with the body still on the wire. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readable
}

export function header(answer: Pick<Answer, 'headers'>, name: string): string | undefined {
  const value = answer.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
