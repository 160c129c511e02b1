import type { Reader, Where } from '../../cluster/cluster.ts'
import type { Kind } from '../../cluster/kind.ts'
import { ConfigMaps } from '../../cluster/kinds/core.ts'
import { HyperConvergeds } from '../../cluster/kinds/hyperconverged.ts'
import { KubeVirts } from '../../cluster/kinds/kubevirt.ts'
import { ClusterOperators, ClusterVersions, MachineConfigPools } from '../../cluster/kinds/openshift.ts'
import {
  ClusterServiceVersions,
  InstallPlans,
  OperatorConditions,
  Subscriptions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { Bell } from '../../facts/bell.ts'
import { ringOnChange } from '../../facts/ring-on-change.ts'
import { seconds } from '../../system/units.ts'
import type { Clock } from '../../system/clock.ts'

/** An update writes something every few seconds, and a look asks every step: one for all that happens within this time. */
const burst = 2 * seconds
/** A look without any change: what is asked of nodes and VMs is not followed. */
const lookEvery = 60 * seconds

/**
 * Now, and whenever something changes that tells where a window stands. `namespace` is that of the operator and of the journal; undefined where there is
 * none. Ends by throwing the signal's reason.
 */
export async function* windowChanges(
  reader: Reader,
  { clock, signal, namespace }: { clock: Clock; signal: AbortSignal; namespace: string | undefined },
): AsyncGenerator<void> {
  const done = new AbortController()
  const bell = new Bell()
  try {
    ringOnChange(reader, followedIn(namespace), { bell, signal: AbortSignal.any([signal, done.signal]) })
    for (;;) {
      yield
      await bell.wait(clock, lookEvery, signal)
      await clock.sleep(burst, signal)
    }
  } finally {
    done.abort()
  }
}

function followedIn(namespace: string | undefined): readonly (readonly [Kind, Where])[] {
  const platform = [ClusterVersions, ClusterOperators, MachineConfigPools].map((kind) => [kind, {}] as const)
  if (namespace === undefined) return platform
  const operator: readonly Kind[] = [
    Subscriptions,
    InstallPlans,
    ClusterServiceVersions,
    OperatorConditions,
    HyperConvergeds,
    KubeVirts,
  ]
  return [
    ...platform,
    ...operator.map((kind) => [kind, { namespace }] as const),
    [ConfigMaps, { namespace, name: 'kvup-journal' }],
  ]
}
