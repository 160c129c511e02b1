import { usageError } from './errors.ts'

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof units

/** What a timer can be set to: it would go off at once beyond. */
const longest = 2 ** 31 - 1

const part = /(\d+(?:\.\d+)?)(ms|[smhd])/g

/** `90s`, `5m`, `1h30m`, `0s` in ms. A number needs a unit: throws `usage` otherwise. */
export function parseDuration(text: string): number {
  const typed = text.trim()
  const parts = [...typed.matchAll(part)]
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== typed) throw notADuration(typed)
  const ms = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * units[unit as Unit], 0)
  if (ms <= longest) return ms
  throw usageError('not-a-duration', `${JSON.stringify(typed)} is longer than kvup can wait`, {
    remedy: 'at most 24d',
  })
}

function notADuration(typed: string): Error {
  const number = /^\d+(\.\d+)?$/.test(typed)
  const why = number ? 'it needs a unit' : 'it is written like 90s, 5m or 1h30m'
  return usageError('not-a-duration', `${JSON.stringify(typed)} is not a duration: ${why}`, {
    remedy: number ? `${typed}s for seconds, ${typed}m for minutes` : '90s, 5m, 1h30m, 2d',
  })
}

/** As a person writes it, the two largest units: `1h30m`, `3m12s`, `45s`, `12d4h`; under a second `0s`. */
export function formatDuration(ms: number): string {
  let rest = Math.max(0, Math.floor(ms / 1000)) * 1000
  const words: string[] = []
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(rest / units[unit])
    rest -= count * units[unit]
    if (count > 0) words.push(`${count}${unit}`)
    else if (words.length > 0) break
    if (words.length === 2) break
  }
  return words.join('') || '0s'
}
