import type { RecognisedWindow } from '../../../lib/facts/layers/recognised-window.ts'
import type { PlatformStanding } from '../../../lib/facts/openshift/platform-standing.ts'
import type { Part } from '../../../lib/eus/status/window-status.ts'
import { minorsTo } from '../../../lib/releases/platform-minors.ts'
import { minorOfPlatform } from '../../../lib/releases/platform-version.ts'

/** Where a window stands by the platform and its pools alone: what was borrowed, and by whom, they do not tell. Pure. */
export function partsByPlatform(
  window: RecognisedWindow | undefined,
  began: string,
  standing: PlatformStanding,
): readonly Part[] {
  const pools = window?.pools ?? []
  const at = minorOfPlatform(standing.target)
  const passed = minorsTo(began, at) ?? []
  return [
    ...(pools.length > 0 ? [{ name: 'pools paused', state: 'done', note: pools.join(', ') } as const] : []),
    ...passed.map((minor) => partOf(minor, minor === at, standing)),
  ]
}

function partOf(minor: string, isLast: boolean, { state, message }: PlatformStanding): Part {
  const name = `platform ${minor}`
  if (!isLast || state === 'idle') return { name, state: 'done' }
  return { name, state: 'now', note: message }
}
