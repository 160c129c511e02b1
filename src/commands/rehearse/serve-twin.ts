import type { Context } from '../../context.ts'
import type { ExitCode } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import type { ClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import { serveSimulator } from '../../simulator/api/http-server.ts'
import { inhabit } from '../../simulator/inhabitants.ts'
import { seeded } from '../../simulator/machinery/controller.ts'
import { scaledClock } from '../../simulator/simulated-clock.ts'
import { simulate } from '../../simulator/simulated-cluster.ts'
import { filesOf, manifestText } from '../demo/demo.ts'
import { keepServed, type LaidDown } from '../demo/served-cluster.ts'
import { methodOf, type Play } from './play-twin.ts'
import type { RehearsedUpgrade } from './rehearsed-upgrade.ts'

/** `kvup rehearse --serve`: nothing is played; the twin listens on loopback for kvup and kubectl until Ctrl-C. */
export async function serveTwin(
  cx: Context,
  twin: ClusterTwin,
  { upgrade, seed, speed }: { upgrade: RehearsedUpgrade; seed: number; speed: number },
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
        files: filesFor(twin, manifestText(simulated.operatorManifest(upgrade.kubevirt))),
        first: (laid) => firstLine({ twin, upgrade }, laid),
      })
    } finally {
      await server.close()
    }
  } finally {
    await simulated.stop()
  }
}

/** Of an upgrade by manifest the plan with the one of the twin, for the one of the release is not about it. */
function firstLine(asked: Pick<Play, 'twin' | 'upgrade'>, laid: LaidDown): string {
  const { typed, to, first } = asked.upgrade
  const manifest = laid.get('kubevirt-operator.yaml')
  if (typed.command === 'eus run') return `kvup eus plan --to ${shellWord(to)}`
  if (manifest === undefined || first !== to || methodOf(asked) !== 'operator-manifest')
    return `kvup check --to ${shellWord(first)}`
  return `kvup plan --to ${shellWord(to)} --manifest ${shellWord(manifest)}`
}

/** What an upgrade of it would want: no operator of OLM is moved by a manifest. */
function filesFor({ shape }: ClusterTwin, manifest: string): Record<string, string> {
  return shape.olm === undefined
    ? { ...filesOf({ cluster: shape }), 'kubevirt-operator.yaml': manifest }
    : filesOf({ cluster: shape })
}
