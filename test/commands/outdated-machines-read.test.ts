import { expect, test } from 'vitest'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

test('the table reads a few VMs of those that stay, every one only where what helps it is printed', async () => {
  const clock = new SimClock()
  const notMigratable = 'HostDeviceNotLiveMigratable'
  const sim = await simulate({
    clock,
    version: 'v1.8.4',
    updatedFrom: 'v1.7.4',
    vms: Array.from({ length: 20 }, (_, i) => ({ name: `vm-${i}`, notMigratable })),
    methods: ['LiveMigrate'],
  })
  await sim.stop()
  const run = (line: string) => runText(line.split(' '), { cluster: sim.cluster(), clock })
  const read = () =>
    sim.store.audit.filter(
      ({ resource, verb, user }) =>
        resource === 'virtualmachines' && /get|list/.test(verb) && !user.startsWith('system:'),
    ).length
  const { out } = await run('workloads outdated')
  expect(out).toMatch(
    /^20 VMs run an old virt-launcher: 20 cannot migrate [^]*\nNext: kvup workloads outdated -o wide /u,
  )
  expect(read()).toBe(3)
  const each = await run('workloads outdated -o json')
  expect(read()).toBe(4)
  expect(each.out.match(/virtctl restart/g)).toHaveLength(20)
})
