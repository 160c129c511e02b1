import { describe, expect, test } from 'vitest'
import {
  machineTypes,
  networkResources,
  operatorEnvironment,
  qemuJump,
  releaseChecks,
  screenshotRights,
  vmsThatChange,
} from '../../../src/lib/checks/groups/release-checks.ts'
import type { FullSnapshot } from '../../../src/lib/kubevirt/full-snapshot.ts'
import { emptyTally, type InstanceTally, tallyInstance } from '../../../src/lib/kubevirt/snapshot.ts'
import type { VirtualMachineInstance } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Deployment } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { ask, evidence, known, node, ofVersion, said, unread, withSpec } from './evidence.ts'
import fixture from './release-checks.json' with { type: 'json' }

const vmi = (name: string, spec: object): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace: 'demo' },
  spec,
  status: { phase: 'Running', nodeName: 'node-1' },
})

function tallyOf(...all: readonly VirtualMachineInstance[]): InstanceTally {
  const tally = emptyTally()
  for (const one of all) tallyInstance(tally, one)
  return tally
}

/** That version with these VMs. */
const running = (version: string, ...all: readonly VirtualMachineInstance[]): FullSnapshot => ({
  ...ofVersion(version),
  instances: known(tallyOf(...all)),
})

const ofMachine = (type: string) => vmi('a', { domain: { machine: { type } } })

const offering = (...types: readonly string[]) => {
  const one = node('node-1')
  for (const type of types)
    one.metadata.labels = { ...one.metadata.labels, [`machine-type.node.kubevirt.io/${type}`]: 'true' }
  return known(one, node('node-2'))
}

const deployment = (env: string): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'virt-operator', namespace: 'kubevirt' },
  spec: {
    template: {
      spec: {
        containers: [
          {
            name: 'virt-operator',
            image: 'a/virt-operator:v1.7.4',
            env: [{ name: env, value: 'sha256:1' }],
          },
        ],
      },
    },
  },
})

const judged = (type: string, target: string, nodes = offering('q35', type)) =>
  ask(machineTypes, { snapshot: { ...running('v1.7.4', ofMachine(type)), nodes }, target }).findings

describe('qemu-jump', () => {
  test.each<[string, string, string | null]>(fixture.qemu as never)(
    '%s to %s: %s',
    (from, target, sentence) => {
      const { findings } = ask(qemuJump, { snapshot: running(from, vmi('a', {}), vmi('b', {})), target })
      expect(findings.map(({ level }) => level)).toEqual(sentence === null ? [] : ['info'])
      if (sentence === null) return
      expect(findings[0]?.summary).toContain(`${sentence}: 2 running VMs keep the old ones until`)
    },
  )

  test('nothing runs, nothing jumps', () => {
    expect(ask(qemuJump, { snapshot: running('v1.7.4'), target: 'v1.8.0' }).is).toBe('passed')
  })
})

describe('vms-that-change', () => {
  test.each<[string, string, object, number | null, string?]>(fixture.changes as never)(
    '%s to %s: %j',
    (from, target, spec, source) => {
      const { findings } = ask(vmsThatChange, {
        snapshot: running(from, vmi('a', spec), vmi('b', spec), vmi('c', {})),
        target,
      })
      const pull = `read https://github.com/kubevirt/kubevirt/pull/${source}`
      const named = findings.map(({ level, objects, summary, remedy }) => [
        level,
        objects,
        summary.endsWith('; it affects 2 running VMs here (demo/a, demo/b)'),
        remedy.includes(pull),
      ])
      expect(named).toEqual(source === null ? [] : [['warning', ['demo/a', 'demo/b'], true, true]])
    },
  )
})

describe('machine-types', () => {
  test.each<[string, string, string[], string?]>(fixture.machines as never)(
    '%s to %s',
    (type, target, level) => {
      expect(said(judged(type, target))).toEqual(level)
    },
  )

  test.each([
    ['pc-q35-4.1', '"type":"q35"'],
    ['pc-q35-rhel7.6.0', '"type":"q35"'],
    ['virt-4.1', '"type":"virt"'],
    ['s390-ccw-virtio-4.1', '"type":"s390-ccw-virtio"'],
  ])('the command for %s stays in its family', (type, patched) => {
    const [found] = judged(type, 'v1.8.4', offering('other'))
    expect(found?.remedy.join('\n')).toContain(patched)
  })

  test.each(['pc-i440fx-2.12', 'pc', 'pseries-7.0'])(
    'none is typed for %s: q35 would be other hardware',
    (type) => {
      const [found] = judged(type, 'v1.8.4', offering('q35'))
      expect(found?.remedy.join('\n')).not.toContain(' patch ')
      expect(found?.remedy.join('\n')).toContain('get vm a -o jsonpath')
    },
  )

  test('a type that no node offers, whatever it is called', () => {
    const evil = 'q35; rm -rf $HOME'
    const [found] = judged(evil, 'v1.8.4', offering('q35'))
    expect(found).toMatchObject({ level: 'warning', objects: ['demo/a'] })
    expect(found?.remedy.join('\n')).not.toContain('rm -rf')
  })
})

describe('operator-environment', () => {
  test.each([
    ['VIRT_API_SHASUM', 'v1.7.4', ['warning operator-environment']],
    ['VIRT_API_IMAGE', 'v1.7.4', []],
    ['VIRT_API_SHASUM', 'v1.6.6', []],
  ])('a manifest with %s, to %s', (env, target, findings) => {
    const snapshot = ofVersion('v1.6.5')
    expect(
      said(ask(operatorEnvironment, { snapshot, target, manifest: [deployment(env)] }).findings),
    ).toEqual(findings)
  })

  test('by OLM the CSV brings the environment', () => {
    const manifest = [deployment('VIRT_API_SHASUM')]
    const asked = { snapshot: ofVersion('v1.6.5'), target: 'v1.7.4', manifest, method: 'olm' } as const
    expect(ask(operatorEnvironment, asked).is).toBe('passed')
  })
})

describe('what is not known is not checked, where it matters', () => {
  const onNetwork = vmi('a', { networks: [{ name: 'x', multus: { networkName: 'other/fast' } }] })
  const plain = vmi('b', { networks: [{ name: 'x', pod: {} }] })

  test.each([
    ['v1.8.4', 'v1.9.0', onNetwork, 'not-checked'],
    ['v1.8.4', 'v1.9.0', plain, 'passed'],
    ['v1.7.4', 'v1.8.4', onNetwork, 'passed'],
  ])('NetworkAttachmentDefinitions: %s to %s', (from, target, one, is) => {
    const snapshot = { ...running(from, one), networkDevices: unread }
    expect(ask(networkResources, { snapshot, target }).is).toBe(is)
  })

  test('of a gate that was turned off nothing has to be known', () => {
    const off = { developerConfiguration: { disabledFeatureGates: ['ExternalNetResourceInjection'] } }
    const snapshot = withSpec(
      { configuration: off },
      evidence({ instances: known(tallyOf(onNetwork)), networkDevices: unread }),
    )
    expect(ask(networkResources, { snapshot, target: 'v1.9.0' }).is).toBe('passed')
  })

  test('a network is found by its namespace, and its VMs are named', () => {
    const networkDevices = known(
      { name: 'other/fast', resource: 'intel.com/vf' },
      { name: 'demo/fast', resource: 'a/b' },
    )
    const snapshot = { ...running('v1.8.4', onNetwork, plain), networkDevices }
    const { findings } = ask(networkResources, { snapshot, target: 'v1.9.0' })
    expect(findings).toMatchObject([{ level: 'warning', objects: ['demo/a'] }])
    expect(findings[0]?.summary).toContain('other/fast asks for intel.com/vf.')
  })

  test.each([
    ['v1.8.1', 'v1.8.2', 'not-checked'],
    ['v1.7.4', 'v1.9.0', 'not-checked'],
    ['v1.8.2', 'v1.9.0', 'passed'],
    ['v1.7.4', 'v1.8.1', 'passed'],
  ])('RoleBindings: %s to %s', (from, target, is) => {
    const snapshot = { ...ofVersion(from), editBindings: unread }
    expect(ask(screenshotRights, { snapshot, target }).is).toBe(is)
  })
})

test('what was only read may warn, and never blocks', () => {
  expect(releaseChecks.filter(({ blocks }) => blocks)).toEqual([])
})
