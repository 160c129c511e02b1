import { expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { traitNames, vmTraits } from '../../../src/lib/kubevirt/vm-traits.ts'

const vmi = (spec: object): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'a', namespace: 'demo' },
  spec,
})

const traitsOf = (spec: object) => traitNames.filter((name) => vmTraits[name](vmi(spec)))

test.each([
  [{}, ['q35', 'guest-log']],
  [{ architecture: 'arm64', domain: { cpu: { cores: 4 } } }, ['guest-log']],
  [{ domain: { cpu: { sockets: 2 }, devices: { logSerialConsole: false } } }, ['smp', 'q35']],
  [{ domain: { machine: { type: 'pc-i440fx' }, devices: { logSerialConsole: false } } }, []],
  [{ domain: { firmware: { bootloader: { efi: {} } } } }, ['q35', 'efi', 'guest-log']],
  [{ volumes: [{ name: 'a', hostDisk: { path: '/a' } }] }, ['q35', 'host-disk', 'guest-log']],
  [
    {
      domain: {
        devices: { interfaces: [{ name: 'a', macvtap: {}, model: 'e1000' }], filesystems: [{ name: 'b' }] },
      },
    },
    ['q35', 'virtiofs', 'removed-binding', 'guest-log'],
  ],
  [
    { domain: { devices: { interfaces: [{ name: 'a', model: 'e1000' }] } } },
    ['q35', 'odd-binding', 'guest-log'],
  ],
  [
    { domain: { devices: { interfaces: [{ name: 'a', masquerade: {} }] } } },
    ['q35', 'virtio-net', 'guest-log'],
  ],
  [
    {
      domain: {
        machine: { type: 'pc-q35-rhel8.6.0' },
        devices: { interfaces: [{ name: 'a', masquerade: {} }] },
      },
    },
    ['q35', 'guest-log'],
  ],
])('%j is %j', (spec, traits) => {
  expect(traitsOf(spec)).toEqual(traits)
})

test('the release data name traits that there are', () => {
  const named = [...knownReleases.knownBad, ...knownReleases.shifts].flatMap(({ hits }) => hits ?? [])
  expect(named.filter((name) => !traitNames.some((trait) => trait === name))).toEqual([])
  expect(named.length).toBeGreaterThan(5)
})
