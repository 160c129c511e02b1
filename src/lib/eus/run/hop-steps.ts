import type { Reader } from '../../cluster/cluster.ts'
import type { ReadContext, Step } from '../../procedure/step.ts'
import { compareMinors, minorOfPlatform } from '../../releases/platform-version.ts'
import type { EusHop } from '../eus-plan.ts'
import { masterRolled } from '../steps/master-rolled.ts'
import { operatorLeadsOn } from '../steps/operator-leads-on.ts'
import { type OperatorPart, operatorPart } from '../steps/operator-part.ts'
import { platformGate } from '../steps/platform-gate.ts'
import { readPlatform } from '../steps/read-platform.ts'
import type { Stop } from '../steps/at-stop.ts'
import { platformUpdated } from '../steps/platform-updated.ts'
import { requestUpdate, setPlatformChannel } from '../steps/request-update.ts'
import { updateAccepted } from '../steps/update-accepted.ts'
import { poolsBehind } from './plain-pools.ts'
import { type EusWindow, keyOf, stopOf } from './window.ts'

/** One minor: the gate, the platform, and the operator behind it. A hop that is behind us is left out. */
export async function hopSteps(window: EusWindow, hop: EusHop, cx: ReadContext): Promise<readonly Step[]> {
  const stop = stopOf(window, hop)
  const { standing } = await readPlatform(cx.reader)
  if (compareMinors(minorOfPlatform(standing.target), stop.minor) > 0) return []
  const platform = await platformSteps(window, hop, cx.reader)
  return [...platform, ...(await operatorSteps(window, { hop, stop }, cx))]
}

async function platformSteps(window: EusWindow, hop: EusHop, reader: Reader): Promise<readonly Step[]> {
  const { name, who, plan, request } = window
  const stop = stopOf(window, hop)
  const key = keyOf(stop)
  const { cv } = await readPlatform(reader)
  const channel = hop === window.hops[0] ? (hop.platform.channel ?? plan.channel?.to) : hop.platform.channel
  const { accepted, command } = request
  return [
    ...operatorsWay(window, stop),
    platformGate({ id: gateId(stop), stop, name, subscription: plan.operator?.subscription }),
    ...(channel === undefined
      ? []
      : [setPlatformChannel(cv, { id: `channel-${key}`, channel, stop, who, name })]),
    requestUpdate({
      id: `request-${key}`,
      subscription: plan.operator?.subscription,
      stop,
      wanted: hop.platform,
      accepted,
      command,
      who,
      name,
    }),
    updateAccepted({ id: `accepted-${key}`, stop, name, leaveRequested: request.leaveRequested }),
    platformUpdated({ id: `platform-${key}`, stop }),
    masterRolled({ id: `control-plane-${key}`, stop, name }),
    ...(window.way === 'plain' ? await poolsBehind(window, stop, reader) : []),
  ]
}

/** None where OLM keeps no operator. */
function operatorsWay({ plan, releases, request }: EusWindow, stop: Stop): readonly Step[] {
  const { operator, findings } = plan
  if (operator === undefined) return []
  const { accepted, command } = request
  const isStranded = findings.some(({ id }) => id === 'operator-stranded')
  const id = `operator-way-${keyOf(stop)}`
  return [operatorLeadsOn({ id, stop, operator, releases, accepted, command, isStranded })]
}

/** The gates of the operator bear its releases, which on OpenShift look like those of the platform. */
const gateId = (stop: Stop): string => `gate-${stop.version === undefined ? '' : 'platform-'}${keyOf(stop)}`

/** The last hop of a minor has the operator behind it. */
async function operatorSteps(
  window: EusWindow,
  { hop, stop }: { hop: EusHop; stop: Stop },
  cx: ReadContext,
): Promise<readonly Step[]> {
  const { operator } = window.plan
  const isLast = window.hops.findLast(({ minor }) => minor === stop.minor) === hop
  if (operator === undefined || !isLast || hop.minor === window.began) return []
  const part: OperatorPart = { minor: stop.minor, stops: hop.operators, operator }
  return operatorPart(window, part, cx)
}
