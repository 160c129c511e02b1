import type { Context } from '../../context.ts'
import type { ExitCode } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import type { ClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import { serveSimulator } from '../../simulator/api/http-server.ts'
import { inhabit } from '../../simulator/inhabitants.ts'
import { seeded } from '../../simulator/machinery/controller.ts'
import { scaledClock } from '../../simulator/simulated-clock.ts'
import { simulate } from '../../simulator/simulated-cluster.ts'
import { manifestText } from '../demo/demo.ts'
import { keepServed } from '../demo/served-cluster.ts'

/** `kvup rehearse --serve`: nothing is played; the twin listens on loopback for kvup and kubectl until Ctrl-C. */
export async function serveTwin(
  cx: Context,
  twin: ClusterTwin,
  { to, seed, speed }: { to: string; seed: number; speed: number },
): Promise<ExitCode> {
  const { namespace = 'kubevirt' } = twin.shape
  const clock = scaledClock(cx.clock, speed)
  const random = seeded(seed)
  const simulated = await simulate({ clock, ...twin.shape, random })
  try {
    inhabit(simulated.store, twin.inhabitants, { namespace, random, now: clock.now().toISOString() })
    simulated.faults.set(twin.faults)
    const server = await serveSimulator(simulated.store)
    try {
      return await keepServed(cx, {
        kubeconfig: server.kubeconfig([], speed),
        namespace,
        speed,
        files: { 'kubevirt-operator.yaml': manifestText(simulated.operatorManifest(to)) },
        first: () => `kvup check --to ${shellWord(to)}`,
      })
    } finally {
      await server.close()
    }
  } finally {
    await simulated.stop()
  }
}
