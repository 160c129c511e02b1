import { type KvupError, lost } from '../../kube/errors.ts'
import { counted, someOf } from '../../kube/text.ts'
import type { Change } from './vm-census.ts'
import type { ComparedWith } from './run-census.ts'

/** Exit 9 where VMs or volumes were lost; undefined otherwise. `done`: what the run did all the same, `KubeVirt v1.8.4 is installed`. */
export function lostSince(
  { changes = [], comparedWith }: { changes?: readonly Change[]; comparedWith?: ComparedWith },
  done: string,
): KvupError | undefined {
  const all = changes.filter((change) => change.lost)
  if (all.length === 0) return undefined
  const volumes = all.filter(isVolume)
  const machines = all.filter((change) => !isVolume(change))
  const parts = [
    ...(machines.length > 0
      ? [
          `${counted(machines.length, 'VM', ['lost its instance', 'lost their instances'])}: ${named(machines)}`,
        ]
      : []),
    ...(volumes.length > 0
      ? [`${counted(volumes.length, 'volume', ['was', 'were'])} lost: ${named(volumes)}`]
      : []),
  ]
  return lost('workloads-lost', `${done}, but ${parts.join('; ')}`, {
    notes: [
      'No owner is seen to have done it.',
      // What is asked for is seen while a run lives.
      ...(comparedWith?.resumed === true
        ? ['A restart that was asked for while no kvup ran leaves no trace and counts as lost.']
        : []),
    ],
    remedy: all.slice(0, 3).flatMap(linesFor),
  })
}

const isVolume = ({ kind }: Change): boolean => kind === 'PersistentVolumeClaim' || kind === 'DataVolume'

const named = (changes: readonly Change[]): string =>
  someOf(changes.map(({ namespace, name, what }) => `${namespace}/${name} (${what})`))

function linesFor({ kind, namespace, name, what }: Change): string[] {
  const events = `kubectl -n ${namespace} get events --field-selector involvedObject.name=${name}     says what happened to it`
  const starts = kind === 'VirtualMachine' && (what === 'stopped' || what === 'failed')
  return starts ? [events, `virtctl -n ${namespace} start ${name}     starts it again`] : [events]
}
