import { isRecord } from '../lib/kube/object.ts'

/** What a cluster makes of data that are the same for all. */
interface Filling {
  /** What stands for `{{name}}` in a string. */
  readonly word: (name: string) => string
  /** True from that minor of v1 on. */
  readonly isAtLeast?: (minor: number) => boolean
}

/** A copy of data with its placeholders filled, and of its lists only what this release has: an item may have `since` and `until`, the minors of v1 with which it came and went. */
export const fillTemplate = <T>(data: unknown, filling: Filling): T => fill(data, filling) as T

function fill(data: unknown, filling: Filling): unknown {
  const words = (text: string) => text.replaceAll(/\{\{(.+?)\}\}/gu, (_, name: string) => filling.word(name))
  if (typeof data === 'string') return words(data)
  if (Array.isArray(data)) return data.filter((one) => isThere(one, filling)).map((one) => fill(one, filling))
  if (!isRecord(data)) return data
  const { since: _, until: _until, ...rest } = data
  return Object.fromEntries(Object.entries(rest).map(([key, value]) => [words(key), fill(value, filling)]))
}

function isThere(item: unknown, { isAtLeast = () => true }: Filling): boolean {
  const { since, until } = isRecord(item) ? (item as { since?: number; until?: number }) : {}
  return (since === undefined || isAtLeast(since)) && (until === undefined || !isAtLeast(until))
}
