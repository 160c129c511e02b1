import { expect, test } from 'vitest'
import type { VirtualMachine } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { overrideStatus } from '../../../src/lib/vms/unblock/restore-vms.ts'
import { overrideAnnotation, type OverrideField } from '../../../src/lib/vms/unblock/vm-overrides.ts'
import { aVmi } from './outdated/a-vmi.ts'

const eviction: OverrideField = {
  path: '/spec/template/spec/evictionStrategy',
  was: { present: true, value: 'LiveMigrate' },
  set: 'None',
}
const run = (value: string): OverrideField => ({
  path: '/spec/runStrategy',
  was: { present: true, value },
  set: 'Always',
})

interface Now {
  runStrategy?: string
  evictionStrategy?: string
  /** Whom the note names. */
  of?: string
}

function vmWith(fields: readonly OverrideField[], now: Now = {}) {
  const { runStrategy = 'Always', evictionStrategy = 'None', of } = now
  const text = JSON.stringify({ by: 'jane@here', at: '2026-01-10T12:00:00Z', uid: of, fields })
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name: 'db-0',
      namespace: 'shop',
      uid: 'its-own',
      annotations: { [overrideAnnotation]: text },
    },
    spec: { runStrategy, template: { spec: { evictionStrategy } } },
  } as VirtualMachine
}

const running = aVmi()
const stopping = aVmi({ metadata: { deletionTimestamp: '2026-01-10T12:00:00Z' } })
const ended = aVmi({ status: { phase: 'Succeeded' } })

test.each<[string, VirtualMachine, typeof running | undefined, string]>([
  ['W1 runStrategy while the VM runs', vmWith([eviction, run('Manual')]), running, 'to-restore'],
  [
    'W1 asked where it does not run: Once could start it',
    vmWith([eviction, run('Once')]),
    undefined,
    'vm-not-running',
  ],
  [
    'W1 a note of Halted is forged: giving it back would stop the VM',
    vmWith([run('Halted')]),
    running,
    'unreadable',
  ],
  [
    'W1 asked where it has ended: RerunOnFailure could start it',
    vmWith([run('RerunOnFailure')]),
    ended,
    'vm-not-running',
  ],
  [
    'W1 asked where it is being stopped: it would not come back',
    vmWith([run('Manual')]),
    stopping,
    'vm-not-running',
  ],
  ['W1 evictionStrategy alone, stopped', vmWith([eviction]), undefined, 'to-restore'],
  ['W1 evictionStrategy alone, being stopped', vmWith([eviction]), stopping, 'to-restore'],
  [
    'W1 asked where somebody changed it',
    vmWith([eviction], { evictionStrategy: 'External' }),
    running,
    'changed-meanwhile',
  ],
  [
    'W1 asked where somebody changed it, stopped',
    vmWith([eviction, run('Manual')], { runStrategy: 'Halted' }),
    undefined,
    'changed-meanwhile',
  ],
  ['a note that names this VM', vmWith([eviction], { of: 'its-own' }), running, 'to-restore'],
  [
    'asked where the note came along with a copy',
    vmWith([eviction], { of: 'other' }),
    running,
    'copied-note',
  ],
])('%s', (_, vm, vmi, expected) => {
  const rolloutStatus = overrideStatus(vm, vmi)
  expect(rolloutStatus?.is === 'asks' ? rolloutStatus.id : rolloutStatus?.is).toBe(expected)
})
