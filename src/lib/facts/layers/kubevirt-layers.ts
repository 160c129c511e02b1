import type { Standing } from '../standing.ts'
import type { RecognisedWindow } from './recognised-window.ts'
import type { Layer } from './layer.ts'

/** What is known of KubeVirt itself: its standing, that there is none, or why neither is known. */
export type SeenKubeVirt =
  | { is: 'one'; name: string; standing: Standing }
  | { is: 'none' }
  | { is: 'unknown'; why: string }

/** In the words of its own verdict. */
export function kubeVirtLayer(seen: SeenKubeVirt): Layer {
  if (seen.is === 'unknown') return { layer: 'kubevirt', verdict: 'Unknown', says: seen.why }
  if (seen.is === 'none')
    return { layer: 'kubevirt', verdict: 'Waiting', says: 'there is no KubeVirt resource' }
  const { verdict, since, waitingFor, why, observed, target } = seen.standing
  const [cause] = why
  return {
    layer: 'kubevirt',
    object: `kubevirt/${seen.name}`,
    verdict,
    says: versions(observed.version, target.version),
    ...(verdict !== 'Settled' && { waitsFor: cause?.sentence ?? waitingFor ?? 'its operator' }),
    ...(since !== undefined && { since }),
  }
}

function versions(observed: string | undefined, target = 'of no version yet'): string {
  return observed === undefined || observed === target ? target : `${observed} to ${target}`
}

/** How many VMs there are and how many run an old virt-launcher, by their label: KubeVirt's own count also has other VMs (ocp 9.9). */
export interface SeenVms {
  instances: number
  outdated: number
  /** workloadUpdateMethods is empty: nothing is updated by itself. */
  held: boolean
}

/** Undefined where it is not known how many there are. */
export function vmsLayer(vms: SeenVms | undefined, window: RecognisedWindow | undefined): Layer | undefined {
  if (vms === undefined) return undefined
  const { instances, outdated, held } = vms
  const says = outdated === 0 ? `${instances}, none outdated` : `${outdated} of ${instances} outdated`
  if (outdated === 0 || !held) return { layer: 'vms', verdict: 'Settled', says }
  const waiting = { layer: 'vms', verdict: 'Waiting', says: `${says}, and workload updates are off` } as const
  if (!window)
    return { ...waiting, waitsFor: 'workload updates to be given back', help: ['kvup workloads outdated'] }
  return {
    ...waiting,
    waitsFor: 'the end of the EUS window',
    expected: 'in an EUS window',
    notes: ['the alert OutdatedVirtualMachineInstanceWorkloads fires after 24 h of this, by design'],
  }
}
