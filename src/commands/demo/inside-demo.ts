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
  /** Texts that lie beside the person who types, by the names of their files. */
  files: Readonly<Record<string, string>>
}

/** The context of a command that works on the simulated cluster: its clock is the cluster's, and nobody is asked. */
export async function insideDemo(
  cx: Context,
  { clock, speed, kubeconfig, manifest, files }: Simulated,
): Promise<Context> {
  const file = cx.world.scratchFile('kubeconfig')
  await cx.world.writeText(file, kubeconfig)
  const onTheWall = wallTimes(cx.clock, clock, speed)
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
    printer: { ...cx.printer, event: (event) => cx.printer.event(onTheWall(event)) },
    flags: { ...cx.flags, yes: true },
    world: {
      ...cx.world,
      readStdin: async () => manifest,
      readText: async (name) => files[name] ?? cx.world.readText(name),
      writeText: async () => undefined,
    },
  }
}

/** The printer's clock is the wall's: a person who watches sees the seconds that pass, and how long ago or far away is what. */
function wallTimes(wall: Clock, clock: Clock, speed: number): (event: RunEvent) => RunEvent {
  const on = (time: string) => {
    const from = Date.parse(time) - clock.now().getTime()
    return new Date(wall.now().getTime() + from / speed).toISOString()
  }
  return (event) => {
    const moved = { ...event, at: on(event.at) }
    if (moved.kind !== 'step-waiting') return moved
    const { since } = moved.state
    const state = since === undefined ? moved.state : { ...moved.state, since: on(since) }
    return { ...moved, state, until: on(moved.until) }
  }
}
