import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { guestMemory } from '../../facts/guest-memory.ts'
import { quantity } from '../../system/quantity.ts'

/** By the name of the resource; memory in bytes, CPU in cores. */
export type Resources = Readonly<Record<string, number>>

/** Ratios by which KubeVirt lets guests share a node (configuration.developerConfiguration). */
export interface Sharing {
  cpuAllocationRatio: number
  /** In percent. */
  memoryOvercommit: number
}

/** KubeVirt's defaults where the CR says nothing (KV:pkg/virt-config). */
export function sharingOf(kubevirt: KubeVirt | undefined): Sharing {
  const set = (kubevirt?.spec?.configuration?.['developerConfiguration'] ?? {}) as Record<string, unknown>
  return {
    cpuAllocationRatio: positive(set['cpuAllocationRatio'], 10),
    memoryOvercommit: positive(set['memoryOvercommit'], 100),
  }
}

const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && value > 0 ? value : otherwise

/** The part of a VMI's domain that decides where its pod can run. */
export interface Domain {
  machine?: { type?: string }
  cpu?: {
    model?: string
    cores?: number
    sockets?: number
    threads?: number
    dedicatedCpuPlacement?: boolean
  }
  memory?: { hugepages?: { pageSize?: string }; guest?: string }
  resources?: { requests?: Record<string, string> }
  devices?: { hostDevices?: Device[]; gpus?: Device[] }
}

interface Device {
  deviceName?: string
}

export const domainOf = ({ spec }: VirtualMachineInstance): Domain => spec?.domain ?? {}

const mebi = 2 ** 20

/**
 * What its pod asks for at least: what the guest is given, and what KubeVirt adds for itself (KV:pkg/virt-controller/services,
 * GetMemoryOverhead, its fixed parts). Pure.
 */
export function launcherResources(vmi: VirtualMachineInstance, sharing: Sharing): Resources {
  const domain = domainOf(vmi)
  const { requests = {} } = domain.resources ?? {}
  const vcpus = vcpusOf(domain)
  const guest = guestMemory(vmi)
  const ratio = domain.cpu?.dedicatedCpuPlacement ? 1 : sharing.cpuAllocationRatio
  const memory = quantity(requests['memory']) ?? (guest * 100) / sharing.memoryOvercommit
  return {
    pods: 1,
    cpu: quantity(requests['cpu']) ?? vcpus / ratio,
    memory: (isHuge(domain) ? 0 : memory) + (220 + 8 * vcpus) * mebi + guest / 512,
    ...hugePages(domain),
    ...devicesOf(domain),
  }
}

function vcpusOf({ cpu: { cores = 1, sockets = 1, threads = 1 } = {} }: Domain): number {
  return cores * sockets * threads
}

const isHuge = ({ memory }: Domain): boolean => memory?.hugepages !== undefined

function hugePages({ memory, resources }: Domain): Resources {
  const size = memory?.hugepages?.pageSize
  if (size === undefined) return {}
  return { [`hugepages-${size}`]: quantity(memory?.guest ?? resources?.requests?.['memory']) ?? 0 }
}

function devicesOf({ devices: { hostDevices = [], gpus = [] } = {} }: Domain): Resources {
  const counts: Record<string, number> = {}
  for (const { deviceName } of [...hostDevices, ...gpus])
    if (deviceName) counts[deviceName] = (counts[deviceName] ?? 0) + 1
  return counts
}
