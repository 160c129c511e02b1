import { usageError } from '../kube/errors.ts'
import { nearest } from '../kube/text.ts'
import type { ApiFault } from '../../simulator/api/api-faults.ts'
import type { SimulationFaults } from '../../simulator/simulated-cluster.ts'
import type { ClusterTwin } from './cluster-twin.ts'

/** What can be made to go wrong in a rehearsal. */
export interface TwinFault {
  name: string
  /** One sentence: what goes wrong. */
  title: string
  /** In the cluster, from the beginning of the upgrade; `to` is the target. */
  inCluster?(twin: ClusterTwin, to: string): SimulationFaults
  /** In the API server that kvup talks to. */
  inApi?: ApiFault
}

/** The faults of `kvup rehearse --fault`. */
export const twinFaults: readonly TwinFault[] = [
  {
    name: 'missing-image',
    title: 'The registry lacks the image of virt-handler.',
    inCluster: (_, to) => ({ unpullable: `/virt-handler:${to}$` }),
  },
  {
    name: 'canary-crash',
    title: 'The new virt-handler crashes on every node.',
    inCluster: (_, to) => ({ crashing: `/virt-handler:${to}$` }),
  },
  {
    name: 'node-lost',
    title: 'A worker node stops answering when the upgrade begins.',
    inCluster: ({ shape, faults }) => ({
      notReady: [...(faults.notReady ?? []), ...(shape.nodes ?? []).filter(runsVms).slice(0, 1).map(nameOf)],
    }),
  },
  {
    name: 'registry-slow',
    title: 'Every image takes two minutes to pull.',
    inCluster: () => ({ pullsTake: 120_000 }),
  },
  {
    name: 'api-flaps',
    title: 'The API server answers a hundred requests of kvup with 503.',
    inApi: { is: 'refused', status: 503, times: 100 },
  },
]

const nameOf = ({ metadata }: { metadata: { name: string } }): string => metadata.name
const runsVms = ({ metadata }: { metadata: { labels?: Record<string, string> } }): boolean =>
  metadata.labels?.['kubevirt.io/schedulable'] === 'true'

/** Throws `usage` for a name that there is no fault of. */
export function faultsNamed(names: readonly string[]): readonly TwinFault[] {
  const known = twinFaults.map(({ name }) => name)
  return names.map((name) => {
    const found = twinFaults.find((fault) => fault.name === name)
    if (found) return found
    const meant = nearest(name, known)
    throw usageError('no-such-fault', `there is no fault ${JSON.stringify(name)}`, {
      remedy: [
        ...(meant === undefined ? [] : [`did you mean ${meant}?`]),
        `the faults are: ${known.join(', ')}`,
      ],
    })
  })
}
