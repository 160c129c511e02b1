import { expect, test } from 'vitest'
import { machineryChecks } from '../../../src/lib/checks/groups/machinery-checks.ts'
import { nodeChecks } from '../../../src/lib/checks/groups/node-checks.ts'
import { runChecks, workloadChecks } from '../../../src/lib/checks/check-run.ts'
import { takeFullSnapshot } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { SimClock } from '../../../src/simulator/simulated-clock.ts'
import { simulate } from '../../../src/simulator/simulated-cluster.ts'
import type { OperatorFaults } from '../../../src/simulator/virt-operator/virt-operator-context.ts'
import { question } from './evidence.ts'

const checks = [...machineryChecks, ...nodeChecks, ...workloadChecks]

/** What is found after that many minutes, on v1.8.4 with five VMs. */
async function found(faults: OperatorFaults, minutes: number): Promise<Record<string, readonly string[]>> {
  const clock = new SimClock()
  const world = await simulate({ clock, version: 'v1.8.4', vms: 5, methods: ['LiveMigrate'], faults })
  await clock.sleep(minutes * 60_000)
  const snapshot = await takeFullSnapshot(world.cluster(), clock)
  await world.stop()
  const asked = { ...question({ snapshot, target: 'v1.9.0' }), at: clock.now() }
  const results = runChecks(checks, asked).filter(({ is }) => is !== 'passed')
  return Object.fromEntries(results.map(({ check, findings }) => [check.id, findings[0]?.objects ?? []]))
}

test('a settled cluster with VMs gives no false alarm, an hour later neither', async () => {
  expect(await found({}, 0)).toEqual({})
  expect(await found({}, 60)).toEqual({})
})

test('a node that goes silent is found', async () => {
  expect(await found({ notReady: ['worker-2'] }, 10)).toMatchObject({ 'node-ready': ['node/worker-2'] })
})
