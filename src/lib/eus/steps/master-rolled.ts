import { Nodes } from '../../cluster/kinds/core.ts'
import type { Step, StepContext, StepState } from '../../procedure/step.ts'
import { platformMinor, platformOfKubernetes } from '../../releases/platform-minors.ts'
import { compareMinors, minorOfPlatform } from '../../releases/platform-version.ts'
import { hours, minutes, seconds } from '../../system/units.ts'
import { keepPool, keptPool } from './kept.ts'
import { readPlatform } from './read-platform.ts'
import type { Stop } from './at-stop.ts'
import { kubernetesOf, poolBefore, poolFollows, type PoolNow, readPool, untilUpdated } from './pool-now.ts'

/** Of one hop: its key in the journal, and where it ends. */
export interface MasterHop {
  id: string
  stop: Stop
  /** Of the procedure. */
  name: string
}

const keptAs = ({ minor, version }: Stop): string => `master-${version ?? minor}`

/** Keeps what the master pool looks like before the hop: an old Updated proves nothing after it. */
export async function keepMaster(cx: StepContext, name: string, stop: Stop): Promise<void> {
  await keepPool(cx.journal, name, keptAs(stop), poolBefore(await readPool(cx.reader, undefined)))
}

/**
 * Done once the master pool has rolled: a new Updating transition since the hop was asked for, Updated, all machines counted, and their kubelets of
 * the platform's minor (ocp 5.1).
 */
export function masterRolled({ id, stop, name }: MasterHop): Step {
  return {
    id,
    title: 'control plane nodes',
    patience: { every: 15 * seconds, atMost: 6 * hours },
    estimate: 30 * minutes,
    follows: [...poolFollows, { kind: Nodes, where: {} }],
    risk: { undo: 'none', safeToLeave: 'always: it goes on by itself' },
    async check({ reader, journal }): Promise<StepState> {
      const now = await readPool(reader, undefined)
      const waiting = untilUpdated(now)
      if (waiting) return now.standing.paused ? masterPaused(now) : waiting
      const { standing } = await readPlatform(reader)
      if (minorOfPlatform(standing.version) !== stop.minor) return { is: 'done' }
      const old = oldKubelets(now, stop.minor)
      if (old.length > 0)
        return { is: 'waiting', on: `the kubelets of ${old.join(', ')} to be those of ${stop.minor}` }
      const before = await keptPool(journal, name, keptAs(stop))
      const hasRolled = poolBefore(now).updating !== before?.updating
      return hasRolled || isProven(now, stop.minor)
        ? { is: 'done', note: `${now.standing.updated} of ${now.standing.machines} machines` }
        : { is: 'waiting', on: 'the master pool to begin' }
    },
  }
}

/** Kubelets of an older Kubernetes than the hop's, where the table knows that: two minors may have the same (4.23 and 5.0). */
function oldKubelets({ nodes }: PoolNow, minor: string): readonly string[] {
  const wanted = platformMinor(minor)?.kubernetes
  if (wanted === undefined) return []
  const isOld = (kubernetes: string) => kubernetes !== '' && compareMinors(kubernetes, wanted) < 0
  return nodes.filter((node) => isOld(kubernetesOf(node))).map(({ metadata }) => metadata.name)
}

/** Where every kubelet can be of the new minor alone, nobody has to have seen the transition. */
const isProven = ({ nodes }: PoolNow, minor: string): boolean =>
  nodes.length > 0 && nodes.every((node) => platformOfKubernetes(kubernetesOf(node)) === minor)

function masterPaused({ standing: { name } }: PoolNow): StepState {
  return {
    is: 'blocked',
    reason: 'master-paused',
    by: `the pool ${name} is paused, and the platform cannot go on without it`,
    remedy: [`oc patch machineconfigpool ${name} --type=merge -p '{"spec":{"paused":false}}'`],
  }
}
