import { valueAt } from '../../cluster/apply/field-path.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { guestMemory } from '../../facts/guest-memory.ts'
import { seconds } from '../../system/units.ts'
import type { Candidate } from './candidate.ts'
import type { WaveBy } from './wave-title.ts'
import type { WaveRunWanted } from './wanted.ts'

/** What is kept of an outdated VMI that is to be moved. Pure. */
export function candidateOf(
  vmi: VirtualMachineInstance,
  by: Candidate['by'],
  { waveBy, canary, apartBy }: Pick<WaveRunWanted, 'waveBy' | 'canary' | 'apartBy'>,
): Candidate {
  const { namespace, name, uid = '', labels } = vmi.metadata
  const apart = apartBy === undefined ? antiAffinityOf(vmi) : labels?.[apartBy]
  return {
    vm: `${namespace}/${name}`,
    uid,
    ...nodeOf(vmi),
    by,
    wave: waveOf(vmi, waveBy),
    canary: canary !== undefined && canary(labels),
    ...(apart !== undefined && { apart }),
    memory: guestMemory(vmi),
    bornAt: bornAt(vmi),
    ...(by === 'restart' && { grace: graceOf(vmi) }),
  }
}

const nodeOf = ({ status }: VirtualMachineInstance) => (status?.nodeName ? { node: status.nodeName } : {})
const bornAt = ({ metadata }: VirtualMachineInstance) => Date.parse(metadata.creationTimestamp ?? '') || 0

/** KV:staging/src/kubevirt.io/api/core/v1, DefaultGracePeriodSeconds. */
const usualGrace = 30

function graceOf({ spec }: VirtualMachineInstance): number {
  const given = valueAt(spec, ['terminationGracePeriodSeconds'])
  return (typeof given === 'number' ? given : usualGrace) * seconds
}

function waveOf({ metadata, status }: VirtualMachineInstance, by: WaveBy): string {
  if (by.is === 'label') return metadata.labels?.[by.key] ?? ''
  if (by.is === 'namespace') return metadata.namespace ?? ''
  return by.is === 'node' ? (status?.nodeName ?? '') : ''
}

interface Term {
  labelSelector?: { matchLabels?: Record<string, string> }
  podAffinityTerm?: Term
}

/** VMs that are not to share a node do one work: those that keep away from what they are themselves. */
function antiAffinityOf({ metadata, spec }: VirtualMachineInstance): string | undefined {
  const from = ['affinity', 'podAntiAffinity']
  const required = valueAt(spec, [...from, 'requiredDuringSchedulingIgnoredDuringExecution'])
  const preferred = valueAt(spec, [...from, 'preferredDuringSchedulingIgnoredDuringExecution'])
  const terms = [required, preferred].flatMap((list) => (Array.isArray(list) ? (list as Term[]) : []))
  for (const term of terms) {
    const labels = Object.entries((term.podAffinityTerm ?? term).labelSelector?.matchLabels ?? {})
    if (labels.length > 0 && labels.every(([key, value]) => metadata.labels?.[key] === value))
      return `${metadata.namespace}: ${labels.map((pair) => pair.join('=')).join()}`
  }
  return undefined
}
