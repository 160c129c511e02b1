import { mixedVms } from '../virtual-machine.ts'
import type { Scenario } from './scenario.ts'

/** Upgrades that reach their end. */
export const goodScenarios: readonly Scenario[] = [
  {
    name: 'image-tag',
    title: 'A newer operator is installed; the CR is moved to its version by imageTag.',
    cluster: {
      version: 'v1.7.4',
      operator: 'v1.8.4',
      method: 'image-tag',
      workers: 6,
      vms: 12,
      methods: ['LiveMigrate'],
    },
    upgrade: { to: 'v1.8.4', method: 'image-tag' },
  },
  {
    name: 'operator-manifest',
    title: "The next release's kubevirt-operator.yaml is applied; KubeVirt follows its operator.",
    cluster: { version: 'v1.8.4', vms: 6, methods: ['LiveMigrate'] },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest' },
  },
  {
    name: 'mixed-workloads',
    title: 'VMs of every kind: some migrate, one always fails to, some would be shut down.',
    cluster: { version: 'v1.8.4', vms: mixedVms, methods: ['LiveMigrate', 'Evict'] },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest', flags: ['--leave-held'] },
  },
  {
    name: 'outdated-workloads',
    title:
      'The control plane is new, the VMs still run on their old virt-launcher: kvup moves them, one first.',
    cluster: { version: 'v1.9.0', updatedFrom: 'v1.8.4', vms: mixedVms, methods: [] },
    update: ['--canary-label', 'kubevirt.io/vm=web-1', '--order', 'name'],
  },
  {
    name: 'blip',
    title: 'Four seconds after "all good" the operator fails once on its own cache, and heals.',
    cluster: { version: 'v1.8.4' },
    faults: { blipAfterReady: true },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest' },
  },
  {
    name: 'second-handler-roll',
    title: 'virt-handler rolls again, twice, after it looked finished.',
    cluster: { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', vms: 6, methods: ['LiveMigrate'] },
    faults: { moreHandlerRolls: true },
    upgrade: { to: 'v1.8.4', method: 'image-tag' },
  },
  {
    name: 'large',
    title: 'Forty workers: the canary first, then a tenth of the nodes at a time.',
    cluster: { version: 'v1.8.4', workers: 40, vms: 80, methods: ['LiveMigrate'] },
    upgrade: { to: 'v1.9.0', method: 'operator-manifest' },
  },
]
