import type { PlatformStanding } from '../../facts/openshift/platform-standing.ts'
import type { ReadContext } from '../../procedure/step.ts'
import type { EusWindow } from '../run/window.ts'
import { keptBaseline } from '../steps/kept.ts'
import { readPlatform } from '../steps/read-platform.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'

/** Where a window began, and whether a hop of it was accepted since: from then on there is no way back, only to the end of that hop (night E2). */
export interface AbortState {
  /** The release; its minor alone where nothing was kept. */
  from: string
  /** The release where the platform is, or is going. */
  at: string
  accepted: boolean
  /** It is not there yet. */
  running: boolean
  /** The operator has to follow, and the pools roll to another minor. */
  leavesMinor: boolean
  /** Of the ClusterVersion, as it is. */
  channel: string | undefined
}

/** By what was kept, else by the plan's reading of the kubelets. Throws ApiError, and `blocked` where there is no platform. */
export async function abortState(
  window: Pick<EusWindow, 'name' | 'began'>,
  { reader, journal }: Pick<ReadContext, 'reader' | 'journal'>,
): Promise<AbortState> {
  const { standing } = await readPlatform(reader)
  const kept = (await keptBaseline(journal, window.name))?.from ?? ''
  return stateSince(kept || window.began, standing)
}

/** Pure. By release, for a patch is a hop as well; and by the history, where a hop that runs stands before it is done. */
export function stateSince(from: string, standing: PlatformStanding): AbortState {
  const { state, channel, version = '' } = standing
  const at = standing.target ?? version
  const running = state !== 'idle'
  const minor = minorOfPlatform(from) || from
  const isElsewhere = minorOfPlatform(from) === '' ? minorOfPlatform(at) !== from : at !== from
  return {
    from,
    at,
    running,
    channel,
    accepted: running || isElsewhere,
    leavesMinor: minorOfPlatform(at) !== minor,
  }
}
