import { expect, test } from 'vitest'
import {
  type VirtualMachineInstance,
  VirtualMachineInstances,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { type Ended, minute, type Stage } from '../stage.ts'
import { doneSteps, eusAbortOn, eusRunOn, playTwoAt } from './window-stage.ts'

const accept = ['vms-that-stay', 'no-room']
const until = 'none-outdated'

const nodeOf = ({ simulated }: Stage, name: string) =>
  (simulated.store.read(VirtualMachineInstances, { namespace: 'demo', name }) as VirtualMachineInstance)
    ?.status?.nodeName ?? ''

/** Every node for VMs but this one takes none any more. */
async function cordonAllBut(stage: Stage, name: string): Promise<void> {
  for (const node of ['worker-0', 'worker-1'].filter((one) => one !== name))
    await stage.cluster.writer.mergePatch(Nodes, { name: node }, { spec: { unschedulable: true } })
}

const noteOf = ({ events }: Ended, id: string) =>
  events.flatMap((event) => (event.kind === 'step-done' && event.step.id === id ? [event.note] : [])).at(0)

const playAtItsEnd = playTwoAt('operator-4.20')
/** One VM can go to the other's node, and that one nowhere. */
const withoutRoom = (stage: Stage) => cordonAllBut(stage, nodeOf(stage, 'web-1'))

test('accepted by name, a VM that could move and has nowhere to go ends the wait, and is named; the one that can is moved first', () =>
  playAtItsEnd(async (stage) => {
    await withoutRoom(stage)
    expect(nodeOf(stage, 'web-2')).not.toBe(nodeOf(stage, 'web-1'))
    const ended = await eusRunOn(stage, { accept, until })
    expect(ended.error).toBeUndefined()
    expect(noteOf(ended, 'workloads')).toBe('not waited for: 1 outdated VM has no node to migrate to')
    expect(noteOf(ended, until)).toBe('1 not moved: demo/web-1')
    expect(nodeOf(stage, 'web-2')).toBe(nodeOf(stage, 'web-1'))
    expect(ended.took).toBeLessThan(60 * minute)
  }))

test('not accepted, it is waited for, with what is in the way and the line that goes on without it', () =>
  playAtItsEnd(async (stage) => {
    await withoutRoom(stage)
    const ended = await eusRunOn(stage, { accept: ['no-room'], until, timeout: '1h' })
    expect(ended).toMatchObject({ code: 4 })
    expect(ended.text).toContain('1 outdated VM has no node to migrate to')
    expect(ended.text).toContain('kvup eus run --accept vms-that-stay     continues without them')
    expect(doneSteps(ended)).not.toContain('workloads')
    const aborted = await eusAbortOn(stage, { accept, until })
    expect(noteOf(aborted, until)).toBe('1 not moved: demo/web-1')
  }))

test('VMs whose migrations a quota refuses: a stall with the line that goes on without them, which it does', () =>
  playAtItsEnd(async (stage) => {
    stage.simulated.faults.set({ quota: 'demo' })
    const stalled = await eusRunOn(stage, { accept: ['no-room'], until, timeout: '1h' })
    expect(stalled).toMatchObject({ code: 4 })
    expect(stalled.text).toContain('kvup eus run --accept vms-that-stay     continues without them')
    const ended = await eusRunOn(stage, { accept, pauseBefore: ['unpause-worker'] })
    expect(ended.error).toBeUndefined()
    expect(noteOf(ended, 'workloads')).toMatch(/^not waited for: 2 VMs .* ResourceQuota/u)
    expect(noteOf(ended, until)).toMatch(/^2 not moved: demo\/web-[12], demo\/web-[12]$/u)
  }))
