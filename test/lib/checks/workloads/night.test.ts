import type { Other } from '../../../../src/lib/kubevirt/cluster-activity.ts'
import { describe, expect, test } from 'vitest'
import type { Check } from '../../../../src/lib/checks/check-definition.ts'
import { dataJobsInFlight, othersActive } from '../../../../src/lib/checks/groups/activity-checks.ts'
import { launcherAge } from '../../../../src/lib/checks/groups/vm-checks.ts'
import type { Node } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import type { FullSnapshot } from '../../../../src/lib/kubevirt/full-snapshot.ts'
import { itemsOf } from '../../../../src/lib/kube/known.ts'
import { templatePrinter } from '../../../../src/lib/output/formats/jsonpath-formats.ts'
import { ask, known, ofVersion, said } from '../evidence.ts'
import { nodes, tally, wholeCluster } from '../whole-cluster.ts'
import fixture from './night.json' with { type: 'json' }

const found = (check: Check, overrides: Partial<FullSnapshot>, target = 'v1.9.0') =>
  ask(check, { snapshot: wholeCluster(overrides), target })

const on = (launchers: Record<string, number>, target?: string) => {
  const running = Object.values(launchers).reduce((sum, count) => sum + count, 0)
  return found(launcherAge, { instances: known(tally({ launchers, running })) }, target)
}
const launcher = (tag: string) => `quay.io/kubevirt/virt-launcher:${tag}`
const withNode = (change: (node: Node) => void) =>
  found(othersActive, { nodes: known(...nodes({ 'worker-1': change })) })
const cordon = (node: Node) => Object.assign(node, { spec: { unschedulable: true } })
const jobs = (...items: [kind: string, phase: string][]) =>
  found(dataJobsInFlight, {
    dataJobs: known(...items.map(([kind, phase]) => ({ kind, name: 'shop/db-0', phase }))),
  })

describe('C1 launcher-age', () => {
  test.each<[string, string, string, string?]>(fixture.ages as never)(
    'C1 a launcher of %s before %s: %s',
    (tag, target, is) => {
      expect(on({ [launcher(tag)]: 3 }, target).is).toBe(is)
    },
  )

  test('C1 the finding counts VMs by version', () => {
    const { findings } = on({ [launcher('v1.6.2')]: 3, [launcher('v1.8.4')]: 7, [launcher('v1.7.0')]: 1 })
    expect(said(findings)).toEqual(['warning launcher-age'])
    expect(findings[0]?.summary).toContain('4 VMs run on')
    expect(findings[0]?.summary).toContain('v1.6.2 under 3 VMs, v1.7.0 under 1 VM')
  })

  test('C1 where migrations from the installed launcher fail, nobody is sent through the releases in between', () => {
    const running = { launchers: { [launcher('v1.6.6')]: 1 }, running: 1 }
    const vm = { [launcher('v1.6.6')]: { 'virtio-net': { count: 1, names: ['demo/a'] } } }
    const remedies = [vm, {}].map((traitsOn) => {
      const instances = known(tally({ ...running, traitsOn }))
      const serverVersion = { gitVersion: 'v1.33.2', major: '1', minor: '33' }
      const snapshot = ofVersion('v1.6.6', wholeCluster({ instances, serverVersion }))
      const { findings } = ask(launcherAge, { snapshot, target: 'v1.8.4' })
      expect(said(findings)).toEqual(['warning launcher-age'])
      return findings.flatMap(({ remedy }) => remedy).filter((line) => line.startsWith('kvup upgrade'))
    })
    expect(remedies[0]).toEqual([])
    expect(remedies[1]).not.toEqual([])
  })

  test('C1 the commands list the VMs that are meant, by their image: not every one of them has the label', () => {
    const vmi = (name: string, tag: string) => ({
      metadata: { namespace: 'shop', name },
      status: { launcherContainerImageVersion: launcher(tag) },
    })
    const all = {
      items: [vmi('db-0', 'v1.6.2'), vmi('web-1', 'v1.8.4'), vmi('web-2', 'v1.7.0'), vmi('web-3', 'v1.7.01')],
    }
    const { findings } = on({ [launcher('v1.6.2')]: 1, [launcher('v1.8.4')]: 1, [launcher('v1.7.0')]: 1 })
    const listed = findings[0]?.remedy.map((command) => {
      const [, template = ''] =
        /^kubectl get virtualmachineinstances -A -o jsonpath='([^']*)'$/u.exec(command) ?? []
      return templatePrinter(template)(all)
    })
    expect(listed).toEqual(['shop db-0\n', 'shop web-2\n'])
  })

  test('C1 an image that no registry could have does not get into a shell', () => {
    const { findings } = on({ [`${launcher('v1.6.2')}'; rm -rf /'`]: 1, 'x;y': 1 })
    expect(findings.flatMap(({ remedy }) => remedy).join()).not.toMatch(/rm -rf|x;y/u)
    expect(findings[0]?.remedy[0]).toContain('LAUNCHER:.status.launcherContainerImageVersion')
  })

  test('C1 a digest tells nothing, unless it is the one in use', () => {
    const digest = `quay.io/kubevirt/virt-launcher@sha256:${'0'.repeat(64)}`
    expect(said(on({ [digest]: 2 }).findings)).toEqual(['info launcher-age'])
    const snapshot = wholeCluster({ instances: known(tally({ launchers: { [digest]: 2 }, running: 2 })) })
    const controller = itemsOf(snapshot.deployments).find(
      ({ metadata }) => metadata.name === 'virt-controller',
    )
    Object.assign(controller?.spec?.template?.spec?.containers?.[0] ?? {}, {
      args: ['--launcher-image', digest],
    })
    expect(ask(launcherAge, { snapshot, target: 'v1.9.0' }).is).toBe('passed')
  })
})

describe('C4 others-active', () => {
  test('C4 a cordoned node with VMs; one without is nobody’s drain', () => {
    const { findings } = withNode(cordon)
    expect(said(findings)).toEqual(['warning others-active'])
    expect(findings[0]?.summary).toContain('1 cordoned node has 10 running VMs (worker-1)')
    expect(found(othersActive, { nodes: known(...nodes({ 'worker-2': cordon })) }).is).toBe('passed')
  })

  test('C4 a pool that is rolling, seen on its node', () => {
    const prefix = 'machineconfiguration.openshift.io'
    const at = (current: string, desired: string) => (node: Node) =>
      Object.assign(node.metadata, {
        annotations: { [`${prefix}/currentConfig`]: current, [`${prefix}/desiredConfig`]: desired },
      })
    expect(withNode(at('a', 'b')).findings[0]?.objects).toEqual(['node/worker-1'])
    expect(withNode(at('a', 'a')).is).toBe('passed')
  })

  test('C4 deschedulers and pools, each with what it may do and the command that shows it', () => {
    const others = known<Other>(
      {
        kind: 'KubeDescheduler',
        name: 'openshift-kube-descheduler-operator/cluster',
        resource: 'kubedeschedulers.operator.openshift.io',
        does: 'evicts',
      },
      {
        kind: 'MachineConfigPool',
        name: 'worker',
        resource: 'machineconfigpools.machineconfiguration.openshift.io',
        does: 'updates',
      },
    )
    const { findings } = found(othersActive, { others })
    expect(findings.map(({ summary }) => summary)).toEqual(fixture.movers)
    expect(findings.flatMap(({ remedy }) => remedy)).toEqual([
      'kubectl -n openshift-kube-descheduler-operator get kubedescheduler cluster -o yaml',
      'kubectl get machineconfigpool worker -o yaml',
    ])
  })

  test('C4 a health check that is not paused: told with a target only, and never with a line that leaves no trace', () => {
    const others = known<Other>(
      {
        kind: 'MachineHealthCheck',
        name: 'openshift-machine-api/workers',
        resource: 'machinehealthchecks.machine.openshift.io',
        does: 'remediates',
      },
      {
        kind: 'NodeHealthCheck',
        name: 'workers',
        resource: 'nodehealthchecks.remediation.medik8s.io',
        does: 'remediates',
      },
    )
    const { findings } = found(othersActive, { others })
    expect(findings.map(({ summary }) => summary)).toEqual(fixture.remediators)
    expect(findings.flatMap(({ remedy }) => remedy).filter((line) => /annotate|patch/u.test(line))).toEqual(
      [],
    )
    const now = { snapshot: wholeCluster({ others }) }
    expect(ask(othersActive, now).is).toBe('passed')
    const updating = known<Other>({
      kind: 'MachineConfigPool',
      name: 'worker',
      resource: 'x',
      does: 'updates',
    })
    expect(ask(othersActive, { snapshot: wholeCluster({ others: updating }) }).is).toBe('found')
  })
})

describe('C5 data-jobs-in-flight', () => {
  test.each([
    'VirtualMachineSnapshot',
    'VirtualMachineRestore',
    'VirtualMachineClone',
    'VirtualMachineBackup',
    'VirtualMachineExport',
  ])('C5 a %s in progress blocks', (kind) => {
    const { findings } = jobs([kind, 'InProgress'])
    expect(said(findings)).toEqual(['blocker data-jobs-in-flight'])
    expect(findings[0]?.remedy).toEqual([`kubectl -n shop get ${kind.toLowerCase()} db-0 -o yaml`])
  })

  test('C5 one finding for many of them', () => {
    const { findings } = jobs(
      ['VirtualMachineClone', 'a'],
      ['VirtualMachineBackup', 'b'],
      ['DataVolume', 'c'],
    )
    expect(said(findings)).toEqual(['blocker data-jobs-in-flight', 'warning data-jobs-in-flight'])
  })
})
