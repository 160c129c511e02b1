import type { Releases } from '../../releases/releases.ts'
import type { EusHop } from '../eus-plan.ts'
import type { ChannelChoice } from './channel.ts'
import type { Chosen } from './platform-stop.ts'
import type { OperatorWay } from './operator-way.ts'
import type { Route } from './route.ts'
import type { EusSight } from './sight.ts'

/** What findings are judged by: the look, and the way that was chosen. */
export interface Judged {
  sight: EusSight
  route: Route
  channel: ChannelChoice
  chosen: Chosen
  hops: readonly EusHop[]
  releases: Pick<Releases, 'hyperconverged'>
  /** Of the operator; undefined without one. */
  operatorWay: OperatorWay | undefined
  /** From when to when the window lasts if it begins now, at the least: ms. */
  lasts: { low: number; high: number }
}

/** The control plane is ahead of paused pools: a window was begun, by kvup or by hand. */
export function isMidWindow({ sight }: Pick<Judged, 'sight'>): boolean {
  return sight.began !== sight.here
}
