import { usageError } from '../../system/errors.ts'

const unit: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
/** As long as an API server itself gives a request, and a little more. */
const usual = 65_000

/** `--request-timeout` in ms; `0` is no limit (undefined). As kubectl: a number without a unit is seconds. */
export function requestTimeout(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return usual
  if (/^\d+$/.test(text)) return limited(Number(text) * 1000)
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([all]) => all).join('') !== text) {
    throw usageError('request-timeout-invalid', `--request-timeout "${text}" is no duration`, {
      remedy: '--request-timeout 30s',
    })
  }
  return limited(parts.reduce((sum, [, number, name]) => sum + Number(number) * (unit[name ?? ''] ?? 0), 0))
}

/** What is longer than a timer can be set to is no limit either. */
const limited = (ms: number) => (ms === 0 || ms >= 2 ** 31 ? undefined : ms)
