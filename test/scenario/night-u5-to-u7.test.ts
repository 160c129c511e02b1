import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import type { Kind } from '../../src/lib/kube/object.ts'
import { CustomResourceDefinitions, ValidatingWebhooks } from '../../src/lib/kube/kinds/extension-kinds.ts'
import {
  KubeVirts,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { tryVmCreation } from '../../src/lib/upgrade/upgrade-report.ts'
import { instance } from './machines.ts'
import { byManifest, byTag, briefly as play, type Stage } from './stage.ts'

test('U5 a temporary webhook that is left behind is a finding', async () => {
  await play(byTag, async (stage) => {
    const { apiVersion, kind } = ValidatingWebhooks
    const metadata = { name: 'virt-operator-tmp-webhookx7k2p' }
    stage.simulated.store.put(ValidatingWebhooks, { apiVersion, kind, metadata })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.documents[0]).toMatchObject({ findings: [{ id: 'tmp-webhook-left' }] })
    expect(ended.text).toContain('kubectl get validatingwebhookconfiguration virt-operator-tmp-webhookx7k2p')
  })
})

const vms = ['gone', 'again', 'dead', 'staged', 'sick', 'well'].map((name) => ({ name }))

const vm = (name: string) => ({ name, namespace: 'demo' })
const ready = (status: 'True' | 'False') => ({ conditions: [{ type: 'Ready', status }] })

/** What should not happen to VMs during an upgrade, all of it. */
function mishaps({ simulated }: Stage): void {
  const { store } = simulated
  const patch = (kind: Kind, name: string, status: object, on?: 'status') =>
    store.patch(kind, vm(name), { type: 'merge', body: { status: { ...status } } }, { manager: 'x', on })
  store.remove(VirtualMachines, vm('gone'))
  store.remove(VirtualMachineInstances, vm('again'), { now: true })
  patch(VirtualMachineInstances, 'dead', { phase: 'Failed' })
  patch(VirtualMachineInstances, 'sick', ready('False'))
  patch(VirtualMachines, 'staged', { conditions: [{ type: 'RestartRequired', status: 'True' }] }, 'status')
}

test('U6 the report compares VMIs before and after; differences come first, virtctl is named', async () => {
  await play({ ...byTag, vms }, async (stage) => {
    stage.later(20_000, () => mishaps(stage))
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 9, error: { reason: 'workloads-lost' } })
    const { differences } = ended.documents[0] as unknown as { differences: Record<string, string[]> }
    expect(differences['vanished']).toContain('demo/gone')
    expect([...(differences['restarted'] ?? []), ...(differences['failed'] ?? [])].toSorted()).toEqual([
      'demo/again',
      'demo/dead',
    ])
    expect(differences).toMatchObject({ restartRequired: ['demo/staged'], notReady: ['demo/sick'] })
    expect(JSON.stringify(differences)).not.toContain('demo/well')
    const answer = ended.lines.slice(ended.lines.findIndex((line) => line.includes('lost: ')))
    expect(answer[0]).toMatch(/lost: restarted: demo\/(?:again|dead)/)
    expect(answer.join('\n')).toContain('deleted: demo/gone (the VM was deleted)')
    expect(ended.documents[0]).toMatchObject({ virtctl: expect.stringContaining('virtctl-v1.8.4') as string })
  })
})

test('U6 nothing happened: it says so, and that a VM can be created', async () => {
  await play({ ...byTag, vms: [{ name: 'web-1' }] }, async (stage) => {
    const before = instance(stage, 'web-1')
    const ended = await stage.upgrade('v1.8.4', { leavePaused: true })
    expect(ended.documents[0]).toMatchObject({ vmCreation: { is: 'accepted' } })
    expect(ended.text).toContain('1 VM kept running')
    expect(instance(stage, 'web-1')?.metadata.uid).toBe(before?.metadata.uid)
  })
})

test('U6 a dry-run create of a VM that is refused is told, with the reason', async () => {
  await play(byTag, async (stage) => {
    stage.api.add({
      is: 'webhook-refuses',
      resource: 'virtualmachines',
      webhook: 'virtualmachine-validator.kubevirt.io',
      message: 'no VMs today',
    })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.code).toBe(0)
    expect(ended.documents[0]).toMatchObject({
      vmCreation: { is: 'refused', why: expect.stringContaining('no VMs today') },
    })
    expect(ended.text).toContain('no VMs today')
  })
})

test.each([
  ['RBAC’s 403', 403, 'kvup rbac', 'not-allowed'],
  ['a 403 of a quota or a webhook', 403, undefined, 'refused'],
  ['a kind that is not served', 404, undefined, 'not-allowed'],
] as const)('U6 %s', async (_, status, remedy, is) => {
  const create = () => Promise.reject(new ApiError(status, '', 'no', { remedy }))
  expect(await tryVmCreation({ reviewer: { dryRun: { create } } } as never, 'kubevirt')).toMatchObject({ is })
})

const dataVolumes = {
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataVolume',
  plural: 'datavolumes',
  namespaced: true,
} as const

/** CDI is there, with one DataVolume in this phase. */
function withDataVolume({ simulated: { store } }: Stage, phase: string): void {
  const { kind, plural } = dataVolumes
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'datavolumes.cdi.kubevirt.io' },
    spec: {
      group: 'cdi.kubevirt.io',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [{ name: 'v1beta1', served: true, storage: true }],
    },
  }
  store.put(CustomResourceDefinitions, definition)
  const metadata = { name: 'disk', namespace: 'demo' }
  const volume = { apiVersion: dataVolumes.apiVersion, kind, metadata, status: { phase } }
  store.put(dataVolumes, volume)
}

test('U6 volumes are compared by uid and phase', async () => {
  await play({ ...byTag, vms: 1 }, async (stage) => {
    withDataVolume(stage, 'Succeeded')
    stage.later(20_000, () => {
      const ref = { name: 'disk', namespace: 'demo' }
      const body = { status: { phase: 'Failed' } }
      stage.simulated.store.patch(dataVolumes, ref, { type: 'merge', body })
    })
    const ended = await stage.upgrade('v1.8.4')
    expect(ended.text).toContain('DataVolume demo/disk: Succeeded before, Failed now')
  })
})

test('U7 an operator without a KubeVirt is a state of its own', async () => {
  await play(byManifest, async (stage) => {
    const ref = { name: 'kubevirt', namespace: 'kubevirt' }
    const { store } = stage.simulated
    store.patch(KubeVirts, ref, { type: 'merge', body: { metadata: { finalizers: null } } })
    store.remove(KubeVirts, ref)
    const ended = await stage.upgrade('v1.9.0')
    expect(ended).toMatchObject({ code: 3, error: { reason: 'no-kubevirt-cr' } })
    expect(ended.text).toContain('create one to install KubeVirt')
    expect(stage.writes()).toEqual([])
  })
})

/** A server that knows `kubevirt.io/v1alpha3` and no v1. */
function onlyAlpha({ reader, writer, reviewer }: Cluster, asked: Set<string>): Cluster {
  const served = (kind: Kind): boolean => {
    if (kind.plural !== 'kubevirts') return true
    asked.add(kind.apiVersion)
    return kind.apiVersion !== 'kubevirt.io/v1'
  }
  const require = (kind: Kind): void => {
    if (!served(kind)) throw new ApiError(404, 'NotFound', 'the server could not find the requested resource')
  }
  return {
    reader: {
      ...pick(reader),
      get: async (kind, ref) => (served(kind) ? reader.get(kind, ref) : { is: 'unserved' }),
      async list(kind, where) {
        require(kind)
        return reader.list(kind, where)
      },
      async *pages(kind, where) {
        require(kind)
        yield* reader.pages(kind, where)
      },
      async *watch(kind, where, signal) {
        require(kind)
        yield* reader.watch(kind, where, signal)
      },
    },
    writer: {
      ...writer,
      async mergePatch(kind, ref, change, on) {
        require(kind)
        return writer.mergePatch(kind, ref, change, on)
      },
    },
    reviewer,
  }
}

const pick = (reader: Cluster['reader']): Pick<Cluster['reader'], 'versions' | 'version' | 'log'> => ({
  versions: (group) => reader.versions(group),
  version: () => reader.version(),
  log: (pod, options) => reader.log(pod, options),
})

test('U7 where only v1alpha3 is served, that is read and written', async () => {
  await play(byTag, async (stage) => {
    const asked = new Set<string>()
    const ended = await stage.upgrade('v1.8.4', {}, { cluster: onlyAlpha(stage.cluster, asked) })
    expect(ended).toMatchObject({ code: 0 })
    expect(asked).toContain('kubevirt.io/v1alpha3')
    expect(stage.kubevirt.spec).toMatchObject({ imageTag: 'v1.8.4' })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})
