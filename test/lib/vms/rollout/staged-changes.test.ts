import { expect, test } from 'vitest'
import type { VirtualMachine, VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { stagedChanges } from '../../../../src/lib/vms/rollout/staged-changes.ts'

interface Shape {
  domain?: object
  volumes?: object[]
  networks?: object[]
  [field: string]: unknown
}

const start: Shape = {
  domain: { cpu: { sockets: 1, cores: 1 }, memory: { guest: '1Gi' } },
  volumes: [{ name: 'root', dataVolume: { name: 'root' } }],
}

/** A VM that was started as `started` and is `now` so; its VMI runs as it was started unless it is said. */
function staged(
  now: Shape,
  {
    started = start,
    running = started,
    message,
    more = {},
    strategy = 'LiveUpdate' as const,
  }: {
    started?: Shape
    running?: Shape
    message?: string
    more?: object
    strategy?: 'LiveUpdate' | 'Stage'
  } = {},
): string[] {
  const vm = {
    metadata: { name: 'vm', namespace: 'demo' },
    spec: { template: { spec: now }, ...more },
  } as unknown as VirtualMachine
  const vmi = { metadata: { name: 'vm' }, spec: running } as unknown as VirtualMachineInstance
  const changes = stagedChanges({ vm, vmi, started: { template: { spec: started } }, strategy, message })
  return changes.map(({ path, waits, hotplug }) =>
    [path.replace('template.spec.', ''), waits, ...(hotplug ? [hotplug] : [])].join(' '),
  )
}

const disk = (hotpluggable: boolean, claimName = 'data') => ({
  name: 'data',
  persistentVolumeClaim: { claimName, ...(hotpluggable && { hotpluggable }) },
})
const domain = (fields: object) => ({ ...start, domain: { ...start.domain, ...fields } })
const placed = { ...start, nodeSelector: { zone: 'a' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] }

test('W11: every difference is told, not only the first', () => {
  const now = { ...domain({ cpu: { sockets: 2, cores: 2 }, machine: { type: 'q35' } }), hostname: 'h' }
  expect(staged(now)).toEqual([
    'domain.cpu.sockets frozen CPU',
    'domain.cpu.cores restart',
    'domain.machine.type restart',
    'hostname restart',
  ])
})

test.each<[string, Shape, Parameters<typeof staged>[1], string[]]>([
  ['nothing', start, {}, []],
  ['the same memory in other words', domain({ memory: { guest: '1024Mi' } }), {}, []],
  ['what KubeVirt writes out empty', { ...start, ...domain({ resources: {}, devices: {} }) }, {}, []],
  ['memory', domain({ memory: { guest: '2Gi' } }), {}, ['domain.memory.guest frozen memory']],
  [
    'memory that KubeVirt could not change live',
    domain({ memory: { guest: '2Gi' } }),
    { message: 'memory updated in template spec. Memory-hotplug is only available for migratable VMs' },
    ['domain.memory.guest restart'],
  ],
  [
    'fewer sockets, which is never live',
    domain({ cpu: { sockets: 2, cores: 1 } }),
    {
      started: domain({ cpu: { sockets: 4, cores: 1 } }),
      message: 'Reduction of CPU socket count requires a restart',
    },
    ['domain.cpu.sockets restart'],
  ],
  [
    'memory that the running VM has already',
    domain({ memory: { guest: '2Gi' } }),
    { running: domain({ memory: { guest: '2048Mi' } }) },
    [],
  ],
  [
    'with Stage memory',
    domain({ memory: { guest: '2Gi' } }),
    { strategy: 'Stage' },
    ['domain.memory.guest restart'],
  ],
  [
    'placement',
    placed,
    {},
    [
      'nodeSelector.zone frozen placement',
      'tolerations[0].key frozen placement',
      'tolerations[0].operator frozen placement',
    ],
  ],
  [
    'a hotpluggable volume, with Stage too',
    { ...start, volumes: [...(start.volumes ?? []), disk(true)] },
    { strategy: 'Stage' },
    [
      'volumes[data].name frozen volumes',
      'volumes[data].persistentVolumeClaim.claimName frozen volumes',
      'volumes[data].persistentVolumeClaim.hotpluggable frozen volumes',
    ],
  ],
  [
    'another volume',
    { ...start, volumes: [...(start.volumes ?? []), disk(false)] },
    {},
    ['volumes[data].name restart', 'volumes[data].persistentVolumeClaim.claimName restart'],
  ],
  [
    'a volume that is to be moved',
    { ...start, volumes: [disk(false, 'new')] },
    { started: { ...start, volumes: [disk(false)] }, more: { updateVolumesStrategy: 'Migration' } },
    ['volumes[data].persistentVolumeClaim.claimName frozen volumes'],
  ],
  [
    'the UUID that KubeVirt writes into VMs (issue 16719)',
    domain({ firmware: { uuid: 'd633a622' } }),
    {},
    ['domain.firmware.uuid restart'],
  ],
  [
    'a further network',
    {
      ...domain({ devices: { interfaces: [{ name: 'blue', bridge: {} }] } }),
      networks: [{ name: 'blue', multus: { networkName: 'blue' } }],
    },
    {},
    [
      'domain.devices.interfaces[blue].name frozen networks',
      'domain.devices.interfaces[blue].bridge frozen networks',
      'networks[blue].name frozen networks',
      'networks[blue].multus.networkName frozen networks',
    ],
  ],
  [
    'another network behind the same interface',
    {
      ...domain({ devices: { interfaces: [{ name: 'blue', bridge: {} }] } }),
      networks: [{ name: 'blue', multus: { networkName: 'green' } }],
    },
    {
      started: {
        ...domain({ devices: { interfaces: [{ name: 'blue', bridge: {} }] } }),
        networks: [{ name: 'blue', multus: { networkName: 'blue' } }],
      },
    },
    ['networks[blue].multus.networkName restart'],
  ],
])('%s', (_, now, more, expected) => {
  expect(staged(now, more).toSorted()).toEqual(expected.toSorted())
})

test('an instance type is told by its name; a revision that KubeVirt filled in is no difference', () => {
  const vm = {
    metadata: { name: 'vm' },
    spec: { instancetype: { name: 'u1.large' }, template: { spec: start } },
  } as unknown as VirtualMachine
  const vmi = { metadata: { name: 'vm' }, spec: start } as unknown as VirtualMachineInstance
  const from = (name: string) =>
    stagedChanges({
      vm,
      vmi,
      started: { instancetype: { name, revisionName: 'vm-u1-1' }, template: { spec: start } },
      strategy: 'LiveUpdate',
    })
  expect(from('u1.large')).toEqual([])
  expect(from('u1.small')).toEqual([
    { path: 'instancetype.name', from: 'u1.small', to: 'u1.large', waits: 'restart' },
  ])
})

test('labels take effect at the next start and ask for none', () => {
  const vm = {
    metadata: { name: 'vm' },
    spec: { template: { metadata: { labels: { tier: 'gold' } }, spec: start } },
  } as unknown as VirtualMachine
  const vmi = { metadata: { name: 'vm' }, spec: start } as unknown as VirtualMachineInstance
  const changes = stagedChanges({ vm, vmi, started: { template: { spec: start } }, strategy: 'LiveUpdate' })
  expect(changes).toEqual([{ path: 'template.metadata.labels.tier', to: 'gold', waits: 'next-start' }])
})
