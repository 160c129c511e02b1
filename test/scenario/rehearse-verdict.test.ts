// A rehearsal plays a whole upgrade, and each test plays some: more than 3 s of processor time.
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { VirtualMachineInstance } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import type { Rehearsal } from '../../src/lib/rehearsal/rehearsal.ts'
import { mixedVms } from '../../src/simulator/vm-shape.ts'
import { runText } from '../lib/run-text.ts'
import {
  changed,
  offline,
  rehearse,
  rehearsed,
  saveCluster,
  type Shape,
  snapshotFolder,
  wordsOf,
} from './rehearse-stage.ts'

const folder = snapshotFolder()
const fileOf = (name: string) => join(folder, `${name}.ndjson`)
const small: Shape = { version: 'v1.8.4', workers: 3, vms: 2, methods: ['LiveMigrate'] }
const isInstance = (object: KubeObject): object is VirtualMachineInstance =>
  object.kind === 'VirtualMachineInstance'

let plain: string
let mixed: string
beforeAll(async () => {
  plain = await saveCluster(fileOf('plain'), small)
  mixed = await saveCluster(fileOf('mixed'), {
    version: 'v1.8.4',
    vms: mixedVms,
    methods: ['LiveMigrate', 'Evict'],
  })
})

describe('a rehearsal takes no finding away', () => {
  test('a release that kvup does not know is refused, as its plan is, and accepted no clean success', async () => {
    const refused = await rehearsed(plain, '--to', 'v1.9.99')
    const planned = await runText(['plan', '--from', plain, '--to', 'v1.9.99', '-o', 'json'], offline)
    expect([refused.code, planned.code]).toEqual([3, 3])
    expect(refused).toMatchObject({ outcome: 'blocked', why: { reason: 'release-unknown' } })
    const accepted = ['--to', 'v1.9.99', '--accept', 'release-unknown=tested']
    const { code, findings, next } = await rehearsed(plain, ...accepted)
    expect(code).toBe(0)
    expect(findings.map(({ id }) => id)).toContain('release-unknown')
    expect(next[0]).toMatch(/^kvup releases /u)
    const { out } = await rehearse(plain, ...accepted)
    const lines = out.split('\n')
    expect(lines[0]).toMatch(/^[^✔]/u)
    expect(out).toContain('But v1.9.99 is not a KubeVirt release that kvup knows')
  })

  test('what kvup check finds stands below the verdict, and in the document', async () => {
    const { out } = await rehearse(mixed, '--to', 'v1.9.0', '--accept', 'evictions=asked')
    for (const id of ['defaults-that-shift', 'vms-that-stay', 'evictions', 'cannot-be-undone'])
      expect(out).toContain(id)
    const { findings } = await rehearsed(mixed, '--to', 'v1.9.0', '--accept', 'evictions=asked')
    const checked = await runText(
      ['check', '--from', mixed, '--to', 'v1.9.0', '--accept', 'evictions=asked', '-o', 'json'],
      offline,
    )
    const { items } = JSON.parse(checked.out) as { items: { is: string; findings: { id: string }[] }[] }
    const asChecked = items.flatMap(({ is, findings: own }) =>
      is === 'not-checked' ? own.map((finding) => ({ ...finding, level: 'not-checked' })) : own,
    )
    expect(findings).toEqual(asChecked)
  })

  test('a blocker that is not in the twin blocks it: VMs that leave a drained node', async () => {
    const drained = changed(plain, fileOf('drained'), (object) =>
      isInstance(object)
        ? { ...object, status: { ...object.status, evacuationNodeName: 'worker-0' } }
        : object,
    )
    const { code, outcome, why, next } = await rehearsed(drained, '--to', 'v1.9.0')
    expect({ code, outcome, reason: why?.reason }).toEqual({
      code: 3,
      outcome: 'blocked',
      reason: 'node-drained',
    })
    const line = next.find((one) => one.startsWith('kvup rehearse'))
    expect((await runText(wordsOf(line), offline)).code).toBe(0)
  })

  test('over several minors what is found is found about the first step', async () => {
    const three = await saveCluster(fileOf('three'), { ...small, version: 'v1.7.4' })
    const { code: ended, outcome, findings } = await rehearsed(three, '--to', 'v1.9.0', '--via', 'v1.8.4')
    expect({ code: ended, outcome }).toEqual({ code: 0, outcome: 'through' })
    expect(findings.map(({ id }) => id)).not.toContain('minor-skipped')
    expect(findings.map(({ id }) => id)).toContain('cannot-be-undone')
    const { code, err } = await rehearse(three, '--to', 'v1.9.0', '--via', 'v1.6.6')
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('--via') as string })
  })

  test('what it is blocked by can be gone round: VM updates are left paused', async () => {
    const { next } = await rehearsed(mixed, '--to', 'v1.9.0')
    const line = next.find((one) => one.includes(' --leave-paused '))
    const { code, out } = await runText([...wordsOf(line), '-o', 'json'], offline)
    const played = JSON.parse(out) as Rehearsal
    expect({ code, outcome: played.outcome, evict: played.tries.evict }).toEqual({
      code: 0,
      outcome: 'through',
      evict: 0,
    })
    expect(played.next[0]).toContain('kvup upgrade --to v1.9.0 --leave-paused ')
  })

  test('what is there already has nothing to do, whatever is found', async () => {
    const { code, outcome, stages } = await rehearsed(mixed, '--to', 'v1.8.4')
    expect({ code, outcome, stages }).toEqual({ code: 0, outcome: 'through', stages: [] })
  })
})

test('a ticket says what KubeVirt tries, and what is not in the twin', async () => {
  const { out: ticket } = await rehearse(mixed, '--to', 'v1.9.0', '--accept', 'evictions', '-o', 'markdown')
  const said =
    'KubeVirt tries to migrate 8 of 11 VMs and to evict 3; QEMU, libvirt, storage and guests are not in'
  expect(ticket).toContain(said)
  expect(ticket).toContain('vms-that-stay')
})

describe('what is missing is said of what is there', () => {
  test('devices and hugepages only where VMs ask for them; the manifest where one is applied', async () => {
    const { missing } = await rehearsed(plain, '--to', 'v1.9.0')
    const said = missing.join('\n')
    expect(said).toContain('CPU')
    expect(said).toContain('manifest-conflicts')
    expect(said).not.toMatch(/hugepages|devices/iu)
    const greedy = changed(plain, fileOf('greedy'), (object) =>
      isInstance(object) && object.metadata.name.endsWith('1')
        ? withDomain(object, {
            memory: { hugepages: { pageSize: '2Mi' }, guest: '1Gi' },
            devices: { gpus: [{ name: 'gpu', deviceName: 'nvidia.com/A100' }] },
          })
        : object,
    )
    const more = await rehearsed(greedy, '--to', 'v1.9.0')
    expect(more.missing).toContain('Hugepages, which 1 VM asks for.')
    expect(more.missing).toContain('GPUs and other devices of nodes, which 1 VM asks for.')
  })
})

function withDomain(object: VirtualMachineInstance, domain: object): KubeObject {
  const spec = object.spec as { domain?: object } | undefined
  return { ...object, spec: { ...spec, domain: { ...spec?.domain, ...domain } } } as KubeObject
}

describe('how it ends has its own word', () => {
  test('KubeVirt is there, and a VM does not run: degraded, exit 3', async () => {
    const shape: Shape = { version: 'v1.8.4', vms: mixedVms, methods: ['LiveMigrate', 'Evict'] }
    const slow = await saveCluster(fileOf('slow'), shape, async (sim, clock) => {
      sim.faults.set({ pullsTake: 120_000 })
      for (const { metadata } of sim.store.list(Pods, { namespace: 'kubevirt' }).items)
        await sim.cluster().writer.delete(Pods, metadata)
      await clock.sleep(400_000)
    })
    const argv = '--to v1.9.0 --accept evictions'.split(' ')
    const { code, outcome, why, tries } = await rehearsed(slow, ...argv)
    expect({ code, outcome, reason: why?.reason }).toEqual({
      code: 3,
      outcome: 'degraded',
      reason: 'degraded',
    })
    expect(tries).toEqual({ migrate: 8, evict: 2, 'evict-refused': 1, nothing: 0 })
  })

  test('its time is over: timed-out, exit 4, and a line that gives it more', async () => {
    const flags = '--to v1.9.0 --timeout 1m'.split(' ')
    const { code, outcome, next } = await rehearsed(plain, ...flags)
    expect({ code, outcome }).toEqual({ code: 4, outcome: 'timed-out' })
    expect(next[0]).toBe(
      `kvup rehearse --to v1.9.0 --timeout 1h --from ${plain}     # plays it with more time`,
    )
    expect((await runText(wordsOf(next[0]), offline)).code).toBe(0)
  })

  test('--timeout is that of the upgrade, and is on its line', async () => {
    const { next } = await rehearsed(plain, '--to', 'v1.9.0', '--timeout', '90m')
    expect(next).toEqual(['kvup upgrade --to v1.9.0 --timeout 90m     # does it in the cluster'])
    expect((await rehearse(plain, '--to', 'v1.9.0', '--timeout', '90')).code).toBe(2)
  })
})
