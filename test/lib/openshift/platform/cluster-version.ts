import type { ClusterVersion } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import type { Condition } from '../../../../src/lib/kube/object.ts'

export type Said = readonly [type: string, status: Condition['status'], reason?: string, message?: string]

export const conditions = (said: readonly Said[]): Condition[] =>
  said.map(([type, status, reason = '', message = '']) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: '2026-11-20T08:00:00Z',
  }))

const settled: readonly Said[] = [
  ['Available', 'True', '', 'Done applying 4.18.21'],
  ['Failing', 'False'],
  ['Progressing', 'False', '', 'Cluster version is 4.18.21'],
  ['RetrievedUpdates', 'True'],
  ['ReleaseAccepted', 'True', 'PayloadLoaded'],
]

type Status = NonNullable<ClusterVersion['status']>

/** One that is done with 4.18.21; `said` replaces conditions of the same type. */
export function clusterVersion(
  said: readonly Said[] = [],
  {
    spec = {},
    status = {},
    generation = 4,
  }: { spec?: object; status?: Partial<Status>; generation?: number } = {},
): ClusterVersion {
  const types = new Set(said.map(([type]) => type))
  return {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: { name: 'version', generation },
    spec: { channel: 'stable-4.18', ...spec },
    status: {
      desired: { version: '4.18.21', image: 'q/release@sha256:1821', channels: ['eus-4.18', 'stable-4.18'] },
      history: [
        {
          state: 'Completed',
          version: '4.18.21',
          image: 'q/release@sha256:1821',
          startedTime: '2026-11-01T08:00:00Z',
          completionTime: '2026-11-01T09:10:00Z',
        },
      ],
      observedGeneration: 4,
      availableUpdates: null,
      conditions: conditions([...settled.filter(([type]) => !types.has(type)), ...said]),
      ...status,
    },
  }
}
