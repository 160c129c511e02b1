import { expect, test } from 'vitest'
import type { VirtualMachine, VirtualMachineInstance } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { stagedChanges } from '../../../../src/lib/vms/rollout/staged-changes.ts'
import fixture from './staged-changes.json' with { type: 'json' }

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

const domain = (fields: object) => ({ ...start, domain: { ...start.domain, ...fields } })
test('W11: every difference is told, not only the first', () => {
  const now = { ...domain({ cpu: { sockets: 2, cores: 2 }, machine: { type: 'q35' } }), hostname: 'h' }
  expect(staged(now)).toEqual([
    'domain.cpu.sockets frozen CPU',
    'domain.cpu.cores restart',
    'domain.machine.type restart',
    'hostname restart',
  ])
})

test.each(fixture.rows as unknown as [string, Shape, Parameters<typeof staged>[1], string[]][])(
  '%s',
  (_, now, more, expected) => {
    expect(staged(now, more).toSorted()).toEqual(expected.toSorted())
  },
)

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
