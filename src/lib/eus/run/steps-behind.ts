import type { Entry } from '../../procedure/journal.ts'
import type { ReadContext, Step } from '../../procedure/step.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import { compareOperatorVersions, operatorVersionOf } from '../../releases/operator-version.ts'
import {
  compareMinors,
  comparePlatforms,
  minorOfPlatform,
  platformMinorOf,
  platformVersionOf,
} from '../../releases/platform-version.ts'
import { stepStandings } from '../status/window-status.ts'
import { eusProcedure } from './procedure.ts'
import type { EusWindow } from './window.ts'

/**
 * Whether a step lies behind a window: it is none of those that are left, and the window made it, or platform and operator are past where it leads; or, of `until`, all is
 * done up to it. A name that no window has is not behind. Reads only.
 */
export async function stepsBehind(
  window: EusWindow,
  cx: ReadContext,
  until: string | undefined,
): Promise<(id: string) => boolean> {
  const looking = { ...window, request: { ...window.request, settleMs: 0 } }
  const [steps, entries] = await Promise.all([eusProcedure(looking).steps(cx), cx.journal.entries()])
  const left = new Set(steps.map(({ id }) => id))
  const made = madeBy(window.name, entries)
  const isThrough = await areDone(steps.slice(0, steps.findIndex(({ id }) => id === until) + 1), cx)
  return (id) => (id === until && isThrough) || (!left.has(id) && (made.has(id) || isReached(id, window)))
}

async function areDone(steps: readonly Step[], cx: ReadContext): Promise<boolean> {
  const standings = await stepStandings(steps, cx)
  return standings.length > 0 && standings.every(({ state }) => state === 'done')
}

/** In the window that is open: another one before it may have borne the same name. */
function madeBy(name: string, entries: readonly Entry[]): ReadonlySet<string> {
  const own = entries.filter(({ procedure }) => procedure === name)
  const since = own.slice(own.findLastIndex(({ what }) => what === 'finished') + 1)
  return new Set(since.flatMap(({ what, step }) => (what === 'applied' ? [step.replace(/#.*$/u, '')] : [])))
}

const ofPlatform =
  /^(?:gate|gate-platform|operator-way|channel|request|accepted|platform|control-plane)-(?<release>\d+\.\d.*)$/u
const ofMinor = /^(?:gate|operator|operator-channel|operator-releases)-(?<release>\d+\.\d+)$/u
const ofOperator =
  /^(?:gate|install-plan|approve|plan-complete|csv-succeeded|hyperconverged-at|operands-rolled|operator-releases-\d+\.\d+-after)-(?<release>\d+\.\d+\.\d.*)$/u

function isReached(id: string, window: EusWindow): boolean {
  const named = (pattern: RegExp) => pattern.exec(id)?.groups?.['release'] ?? ''
  const [platform, minor, operator] = [ofPlatform, ofMinor, ofOperator].map(named)
  return (
    isPlatformAt(platform ?? '', window) ||
    isMinorAt(minor ?? '', window) ||
    isOperatorAt(operator ?? '', window)
  )
}

/** A hop of the platform ends at a minor, or at a release where another hop is of the same. */
function isPlatformAt(text: string, window: EusWindow): boolean {
  const [version, now] = [platformVersionOf(text), platformVersionOf(window.plan.from)]
  if (version === undefined || now === undefined) return isMinorAt(text, window)
  return comparePlatforms(version, now) <= 0 && compareMinors(platformMinorOf(version), window.began) >= 0
}

function isMinorAt(text: string, { plan, began }: EusWindow): boolean {
  if (!/^\d+\.\d+$/u.test(text)) return false
  return compareMinors(text, began) > 0 && compareMinors(text, minorOfPlatform(plan.from)) <= 0
}

function isOperatorAt(text: string, { plan, began, releases }: EusWindow): boolean {
  const [version, now] = [operatorVersionOf(text), operatorVersionOf(plan.operator?.version)]
  if (version === undefined || now === undefined || compareOperatorVersions(version, now) > 0) return false
  const minor = platformOfOperator(version, releases)
  return minor !== undefined && compareMinors(minor, began) > 0
}
