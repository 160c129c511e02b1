import { valueAt } from '../kube/server-side-apply.ts'
import type { VirtualMachineInstance } from '../kube/kinds/kubevirt-kinds.ts'
import { isRecord } from '../kube/object.ts'

/** What a VM has that a release breaks or takes away; the release data name these. */
export const vmTraits = {
  /** Two vCPUs or more, on amd64. */
  smp: (vmi) => isAmd64(vmi) && vcpusOf(vmi.spec?.domain) > 1,
  /** A machine type of the q35 family: its disks lie behind PCI root ports. */
  q35: (vmi) => /q35/u.test(textAt(vmi, ['domain', 'machine', 'type']) ?? (isAmd64(vmi) ? 'q35' : '')),
  /** A network device of virtio, on a machine type of RHEL 9 or on the newest one: the guest may use UDP segmentation offload. */
  'virtio-net': (vmi) =>
    /rhel9|^[^\d]*(?:q35)?$/u.test(textAt(vmi, ['domain', 'machine', 'type']) ?? '') &&
    interfaces(vmi).some(({ model = 'virtio' }) => model === 'virtio'),
  efi: (vmi) => isRecord(valueAt(vmi.spec, ['domain', 'firmware', 'bootloader', 'efi'])),
  'host-disk': (vmi) => (vmi.spec?.volumes ?? []).some((volume) => 'hostDisk' in volume),
  virtiofs: (vmi) => listAt(vmi, ['domain', 'devices', 'filesystems']).length > 0,
  /** Core bindings that v1.8 removes. */
  'removed-binding': (vmi) => interfaces(vmi).some((one) => 'macvtap' in one || 'slirp' in one),
  /** No binding, or more than one. */
  'odd-binding': (vmi) => interfaces(vmi).some((one) => bindings.filter((name) => name in one).length !== 1),
  /** A volume was plugged into it while it ran. */
  hotplugged: (vmi) =>
    (vmi.spec?.volumes ?? []).some(({ persistentVolumeClaim, dataVolume }) => {
      const source = persistentVolumeClaim ?? dataVolume
      return isRecord(source) && source['hotpluggable'] === true
    }),
  /** It boots or has disks from a container image. */
  'container-disk': (vmi) =>
    (vmi.spec?.volumes ?? []).some((volume) => 'containerDisk' in volume) ||
    isRecord(valueAt(vmi.spec, ['domain', 'firmware', 'kernelBoot', 'container'])),
  /** Istio's proxy runs beside it. */
  istio: ({ metadata }) => metadata.annotations?.['sidecar.istio.io/inject'] === 'true',
  'guest-log': (vmi) => valueAt(vmi.spec, ['domain', 'devices', 'logSerialConsole']) !== false,
} satisfies Record<string, (vmi: VirtualMachineInstance) => boolean>

export type VmTrait = keyof typeof vmTraits

export const traitNames = Object.keys(vmTraits) as readonly VmTrait[]

const bindings = ['bridge', 'masquerade', 'slirp', 'macvtap', 'passt', 'passtBinding', 'sriov', 'binding']

const listAt = (vmi: VirtualMachineInstance, path: readonly string[]): readonly Record<string, unknown>[] => {
  const found = valueAt(vmi.spec, [...path])
  return Array.isArray(found) ? found.filter(isRecord) : []
}

const interfaces = (vmi: VirtualMachineInstance) => listAt(vmi, ['domain', 'devices', 'interfaces'])

function textAt(vmi: VirtualMachineInstance, path: readonly string[]): string | undefined {
  const found = valueAt(vmi.spec, [...path])
  return typeof found === 'string' && found !== '' ? found : undefined
}

const isAmd64 = (vmi: VirtualMachineInstance): boolean =>
  (textAt(vmi, ['architecture']) ?? 'amd64') === 'amd64'

/** Of a domain; what is not set counts as one. */
export function vcpusOf({
  cpu,
}: { cpu?: { cores?: number; sockets?: number; threads?: number } } = {}): number {
  const { cores = 1, sockets = 1, threads = 1 } = cpu ?? {}
  return cores * sockets * threads
}
