import type { Context } from '../../context.ts'
import { openCluster } from '../../lib/cluster/http/open-cluster.ts'
import type { RunEvent } from '../../lib/procedure/events.ts'
import type { Clock } from '../../lib/system/clock.ts'

interface Simulated {
  clock: Clock
  speed: number
  kubeconfig: string
  /** The release's kubevirt-operator.yaml. */
  manifest: string
}

/** The context of a command that works on the simulated cluster: its clock is the cluster's, and nobody is asked. */
export async function insideDemo(
  cx: Context,
  { clock, speed, kubeconfig, manifest }: Simulated,
): Promise<Context> {
  const file = cx.world.scratchFile('kubeconfig')
  await cx.world.writeText(file, kubeconfig)
  const began = cx.clock.now().getTime()
  const cluster = await openCluster(
    { kubeconfig: file },
    {
      clock,
      random: () => 0.5,
      env: {},
      onWarning: (text) => cx.printer.warn(text),
      verbosity: 0,
      userAgent: `kvup/${cx.world.version}`,
    },
  )
  return {
    ...cx,
    clock,
    cluster: async () => cluster,
    prompt: { confirm: async () => true },
    printer: { ...cx.printer, event: (event) => cx.printer.event(onTheWall(event, began, speed)) },
    flags: { ...cx.flags, yes: true },
    world: {
      ...cx.world,
      readStdin: async () => manifest,
      writeText: async () => undefined,
    },
  }
}

/** The printer's clock is the wall's: a person who watches sees the seconds that pass. */
function onTheWall(event: RunEvent, began: number, speed: number): RunEvent {
  const wall = (time: string) => new Date(began + (Date.parse(time) - began) / speed).toISOString()
  const moved = { ...event, at: wall(event.at) }
  if (moved.kind !== 'step-waiting') return moved
  const { since } = moved.state
  const state = since === undefined ? moved.state : { ...moved.state, since: wall(since) }
  return { ...moved, state, until: wall(moved.until) }
}
