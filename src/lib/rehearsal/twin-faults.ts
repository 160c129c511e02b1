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
  /** What helps where it happens in the cluster: in a few words for a table, and in a sentence. */
  helps(twin: ClusterTwin, to: string): { brief: string; text: string }
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
    helps: ({ shape }, to) => ({
      brief: 'push the image',
      text: `Push virt-handler:${to} to ${shape.registry ?? 'the registry of the cluster'}, or fix the name of the registry. The pods then pull it by themselves.`,
    }),
    inCluster: (_, to) => ({ unpullable: `/virt-handler:${to}$` }),
  },
  {
    name: 'canary-crash',
    title: 'The new virt-handler crashes on every node.',
    helps: () => ({
      brief: 'fix what its log names',
      text: 'Read the log of virt-handler, and fix what it names. The pods then start by themselves. VMs run on meanwhile.',
    }),
    inCluster: (_, to) => ({ crashing: `/virt-handler:${to}$` }),
  },
  {
    name: 'node-lost',
    title: 'A worker node stops answering when the upgrade begins.',
    helps: (twin) => ({
      brief: 'repair the node',
      text: `Repair ${lostNode(twin) ?? 'the node'}, or power it off and then delete its Node. The upgrade waits for no node that is gone.`,
    }),
    inCluster: (twin) => ({ notReady: [...(twin.faults.notReady ?? []), lostNode(twin) ?? []].flat() }),
  },
  {
    name: 'registry-slow',
    title: 'Every image takes two minutes longer to pull.',
    helps: () => ({
      brief: 'more time, or a mirror',
      text: 'Mirror the images into a registry near the cluster, or give the upgrade more time.',
    }),
    inCluster: ({ faults }) => ({ pullsTake: (faults.pullsTake ?? 0) + 120_000 }),
  },
  {
    name: 'api-flaps',
    title: 'The API server answers a hundred requests of kvup with 503.',
    helps: () => ({
      brief: 'wait for the API server',
      text: 'Wait until the API server answers, then type the upgrade again: it continues.',
    }),
    inApi: { is: 'refused', status: 503, times: 100 },
  },
]

/** The first that runs VMs and is not lost already; undefined where there is none. */
const lostNode = ({ shape, faults }: ClusterTwin): string | undefined =>
  shape.nodes?.find((node) => runsVms(node) && !faults.notReady?.includes(node.metadata.name))?.metadata.name

const runsVms = ({ metadata }: { metadata: { labels?: Record<string, string> } }): boolean =>
  metadata.labels?.['kubevirt.io/schedulable'] === 'true'

/** Each of them once. Throws `usage` for a name that there is no fault of. */
export function faultsNamed(names: readonly string[]): readonly TwinFault[] {
  const known = twinFaults.map(({ name }) => name)
  return [...new Set(names)].map((name) => {
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
