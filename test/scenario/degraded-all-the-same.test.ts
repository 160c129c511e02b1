// Upgrades under faults that KubeVirt does not tell: more than 3 s of processor time.
import { describe, expect, test } from 'vitest'
import { status, type StatusOptions } from '../../src/commands/status/status.ts'
import { wait } from '../../src/commands/wait.ts'
import { EndpointSlices, Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { type ApiService, ApiServices, ValidatingWebhooks } from '../../src/lib/kube/kinds/extension-kinds.ts'
import {
  type VirtualMachine,
  VirtualMachineInstances,
  VirtualMachines,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import type { OperatorFaults } from '../../src/simulator/virt-operator/virt-operator-context.ts'
import { byManifest, byTag, minute, play, second, type Stage } from './stage.ts'

const statusOf = async (stage: Stage, options: StatusOptions = {}) => {
  const ended = await stage.perform((cx) => status(cx, options))
  return { ...ended, document: ended.documents[0] as unknown as StatusDocument }
}

const settled = { ...byManifest, vms: 2 } as const

interface Case {
  name: string
  faults: OperatorFaults
  names: RegExp
  next: RegExp
}

const cases: readonly Case[] = [
  {
    name: 'virt-operator hangs',
    faults: { stopped: true },
    names: /^virt-operator is gone or stuck: .*did not renew its Lease within 30 s$/,
    next: /logs -l kubevirt\.io=virt-operator/,
  },
  {
    name: 'the certificate of virt-api has ended',
    faults: { expired: ['virt-api'] },
    names: /no answer from APIServices v1\.subresources.*, v1alpha3\.subresources.*certificate has expired/,
    next: /openssl x509 -noout -enddate/,
  },
]

describe.for(cases)('KubeVirt says that all is well, and $name', ({ faults, names, next }) => {
  test('status: Degraded, exit 3 by --exit-code, with cause and next line within 60 s; wait --for healthy says why, and ends once it is mended', async () => {
    await play(settled, async (stage) => {
      stage.simulated.faults.set(faults)
      await stage.until(30 * second)
      const observed = await statusOf(stage, { exitCode: true })
      expect(observed.took).toBeLessThanOrEqual(minute)
      expect(observed.code).toBe(3)
      expect(observed.document).toMatchObject({ verdict: 'Degraded' })
      expect(observed.document.conditions?.every(({ judged }) => judged === 'good')).toBe(true)
      expect(observed.document.why?.[0]?.sentence).toMatch(names)
      expect(observed.document.why?.flatMap(({ commands }) => commands).join('\n')).toMatch(next)
      expect(Date.parse(observed.document.why?.[0]?.since ?? '')).toBeLessThanOrEqual(stage.now - 30 * second)
      stage.later(4 * minute, () => stage.simulated.faults.set(off(faults)))
      const ended = await stage.perform((cx) => wait(cx, { for: 'healthy', timeout: '20m' }).then(() => 0))
      expect(ended.took).toBeGreaterThan(4 * minute)
      expect(ended.took).toBeLessThan(6 * minute)
      expect(ended.lines.some((line) => names.test(line))).toBe(true)
    })
  })

  test('an upgrade is refused before it begins: exit 3, nothing is written', async () => {
    await play({ ...byTag, vms: 2 }, async (stage) => {
      stage.simulated.faults.set(faults)
      await stage.until(30 * second)
      const { mark } = stage
      const ended = await stage.upgrade('v1.8.4')
      expect(ended).toMatchObject({ code: 3 })
      expect(ended.text).toMatch(/virt-operator|virt-api/)
      expect(stage.writes(mark)).toEqual([])
      expect(ended.took).toBeLessThan(minute)
    })
  })

  test('an upgrade that ends so has no success mark: exit 3 within two minutes of the rest, and the next run ends it; nor is there nothing to do where the goal is reached', async () => {
    await play({ ...byTag, vms: 2 }, async (stage) => {
      let there = Infinity
      const ended = await stage.upgrade(
        'v1.8.4',
        {},
        {
          onEvent(event) {
            const settling = event.kind === 'step-waiting' && event.step.id === 'healthy'
            if (!settling || !/stable for/.test(JSON.stringify(event.state)) || there < Infinity) return
            there = stage.now
            stage.simulated.faults.set(faults)
          },
        },
      )
      expect(ended).toMatchObject({ code: 3, error: { reason: 'degraded' } })
      expect(ended.text).not.toContain('✔')
      expect(ended.text).toMatch(new RegExp(names.source.replace(/^\^|\$$/g, '')))
      expect(stage.now - there).toBeLessThan(4 * minute)
      const named = ended.events.find(
        (event) =>
          event.kind === 'step-waiting' && /gone or stuck|certificate/.test(JSON.stringify(event.state)),
      )
      expect(Date.parse(named?.at ?? '') - there).toBeLessThan(minute)
      stage.simulated.faults.set(off(faults))
      await stage.until(minute)
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
      stage.simulated.faults.set(faults)
      await stage.until(minute)
      const last = await stage.upgrade('v1.8.4')
      expect(last.code).toBe(3)
      expect(last.text).not.toContain('nothing to do')
    })
  })
})

const off = (faults: OperatorFaults): OperatorFaults =>
  Object.fromEntries(Object.keys(faults).map((name) => [name, undefined]))

test('an operator that hangs in the middle of an update is named within 60 s', async () => {
  await play(byTag, async (stage) => {
    let stopped = Infinity
    stage.later(20 * second, () => {
      stopped = stage.now
      stage.simulated.faults.set({ stopped: true })
    })
    const ended = await stage.upgrade('v1.8.4', { timeout: '5m' })
    expect(ended.code).toBe(4)
    const named = ended.events.find(
      (event) => event.kind === 'step-waiting' && /gone or stuck/.test(JSON.stringify(event.state)),
    )
    expect(Date.parse(named?.at ?? '') - stopped).toBeLessThan(minute)
    expect(ended.error?.message).toContain('virt-operator is gone or stuck')
  })
})

test('a leader whose node is an hour behind renews its Lease all the same: status looks for some seconds and is settled', async () => {
  await play(settled, async (stage) => {
    const slow = { namespace: 'kubevirt', name: 'virt-operator' }
    const behind = (ms: number) => new Date(stage.now - ms).toISOString().replace('Z', '000Z')
    const hour = 3_600_000
    const stop = stage.simulated.store.watch(Leases, ({ object }) => {
      const renewed = (object as { spec?: { renewTime?: string } }).spec?.renewTime ?? ''
      if (object.metadata.name !== slow.name || stage.now - Date.parse(renewed) > hour / 2) return
      stage.simulated.store.patch(Leases, slow, {
        type: 'merge',
        body: { spec: { renewTime: behind(hour) } },
      })
    })
    await stage.until(20 * second)
    const observed = await statusOf(stage)
    stop()
    expect(observed.document).toMatchObject({ verdict: 'Healthy', why: [] })
    expect(observed.took).toBeGreaterThan(0)
    expect(observed.took).toBeLessThan(15 * second)
    expect(observed.lines[0]).toMatch(/has expired: waiting up to 30 s/)
  })
})

test('an API of a component that nobody has heard of counts by where it leads; one of another operator in the same namespace does not', async () => {
  await play(settled, async (stage) => {
    const unavailable = (name: string, labels: Record<string, string>) => {
      const service = { namespace: 'kubevirt', name: 'virt-novel', port: 443 }
      const [version = '', ...group] = name.split('.')
      const { apiVersion, kind } = ApiServices
      const spec = { group: group.join('.'), version, service }
      const added: ApiService = { apiVersion, kind, metadata: { name, labels }, spec }
      stage.simulated.store.create(ApiServices, added)
    }
    const settledAtOnce = await statusOf(stage)
    expect(settledAtOnce.document).toMatchObject({ verdict: 'Healthy', why: [] })
    expect(settledAtOnce.document.remarks ?? []).toEqual([])
    expect(settledAtOnce.took).toBeLessThan(second)
    unavailable('v1beta1.upload.cdi.kubevirt.io', { 'app.kubernetes.io/managed-by': 'cdi-operator' })
    await stage.until(30 * second)
    expect((await statusOf(stage)).document).toMatchObject({ verdict: 'Healthy' })
    unavailable('v1.novel.kubevirt.io', {})
    await stage.until(30 * second)
    const { document } = await statusOf(stage)
    expect(document).toMatchObject({ verdict: 'Degraded', why: [{ kind: 'api', component: 'virt-novel' }] })
    expect(document.why?.[0]?.sentence).toContain('v1.novel.kubevirt.io')
    expect(document.why?.[0]?.sentence).not.toContain('cdi')
  })
})

test('webhooks whose Service has no ready endpoint are one cause', async () => {
  await play(settled, async (stage) => {
    const { store } = stage.simulated
    await stage.simulated.stop()
    const slice = store.list(EndpointSlices, {
      labels: 'kubernetes.io/service-name=kubevirt-operator-webhook',
    })
    store.remove(EndpointSlices, slice.items[0]?.metadata ?? { name: '' })
    expect(store.list(ValidatingWebhooks).items.length).toBeGreaterThan(0)
    const { document } = await statusOf(stage)
    expect(document.verdict).toBe('Degraded')
    const silent = document.why?.filter(({ kind }) => kind === 'webhook-silent')
    expect(silent).toHaveLength(1)
    expect(silent?.[0]?.sentence).toContain('virt-operator-validator')
  })
})

const six = { ...byTag, vms: 6 } as const

/** No node has room for these VMs, and what runs of them ends: they are started again, and wait. */
function loseVms({ simulated: { store, faults } }: Stage, names: string): void {
  faults.set({ unschedulable: `^virt-launcher-(${names})-` })
  for (const { metadata } of store.list(VirtualMachineInstances).items)
    if (new RegExp(`^(${names})$`).test(metadata.name)) store.remove(VirtualMachineInstances, metadata)
}

describe('VMs that should run and do not', () => {
  test('status: 0 of 6, for one reason: Degraded, exit 3 by --exit-code, within 60 s', async () => {
    await play(six, async (stage) => {
      loseVms(stage, 'web-\\d')
      await stage.until(45 * second)
      const observed = await statusOf(stage, { exitCode: true })
      expect(observed.took).toBeLessThan(15 * second)
      expect(observed.code).toBe(3)
      const { verdict, why, workloads } = observed.document
      expect(verdict).toBe('Degraded')
      expect(why).toMatchObject([{ kind: 'vms', reason: 'ErrorUnschedulable' }])
      expect(why?.[0]?.sentence).toMatch(
        /^6 of 6 VMs that should run are not running, for one reason: ErrorUnschedulable: 0\/\d nodes are available/,
      )
      expect(why?.[0]?.commands).toContain('kubectl -n demo describe vmi web-1')
      expect(workloads.troubled).toMatchObject({ shouldRun: 6, count: 6, reasons: [{ mostOf: 'cluster' }] })
    })
  })

  test('one VM of 20 that cannot start: a line, and the verdict stays', async () => {
    await play({ ...byTag, vms: 20 }, async (stage) => {
      loseVms(stage, 'web-7')
      await stage.until(10 * minute)
      const observed = await statusOf(stage, { exitCode: true })
      expect(observed.code).toBe(0)
      expect(observed.document).toMatchObject({
        verdict: 'Healthy',
        why: [],
        workloads: {
          troubled: { shouldRun: 20, count: 1, reasons: [{ count: 1, examples: ['demo/web-7'] }] },
        },
      })
      expect(observed.lines.join('\n')).toContain('1 of 20 VMs that should run is not running as it should')
    })
  })

  test('an upgrade in which they stop has a mark of failure and their names; where nothing is left to do, exit 3', async () => {
    await play(six, async (stage) => {
      const ended = await stage.upgrade(
        'v1.8.4',
        {},
        {
          onEvent(event) {
            if (event.kind === 'step-started' && event.step.id === 'virt-api') loseVms(stage, 'web-[1234]')
          },
        },
      )
      // Their instances are lost as well, which weighs more.
      expect(ended.code).toBe(9)
      expect(ended.text).toContain('4 of 6 VMs that ran before are not running: demo/web-1, demo/web-2')
      expect(ended.text).not.toContain('✔')
      const document = ended.documents.at(-1) as { vms?: object; degraded?: readonly string[] }
      expect(document.vms).toMatchObject({ count: 4, shouldRun: 6 })
      expect(document.degraded?.[0]).toMatch(/^4 of 6 VMs that ran before are not running/)
      expect(stage.methods).toEqual(['LiveMigrate'])
      const again = await stage.upgrade('v1.8.4')
      expect(again).toMatchObject({ code: 3, error: { reason: 'degraded' } })
      expect(again.error?.message).toContain(
        '4 of 6 VMs that should run are not running, for one reason: ErrorUnschedulable',
      )
      expect(again.text).not.toContain('nothing to do')
    })
  })

  test('one that did not run when the upgrade began is a line in its report: exit 0', async () => {
    await play(six, async (stage) => {
      loseVms(stage, 'web-1')
      await stage.until(6 * minute)
      const ended = await stage.upgrade('v1.8.4')
      expect(ended).toMatchObject({ code: 0 })
      expect(ended.text).toContain('1 of 6 VMs that should run is not running as it should')
      expect(ended.text).toContain('(demo/web-1)')
      expect(ended.documents.at(-1)).not.toHaveProperty('degraded')
    })
  })

  test('those that come back within a minute of the end are none that do not run: their restart alone is told', async () => {
    await play(six, async (stage) => {
      let lost = false
      const ended = await stage.upgrade(
        'v1.8.4',
        {},
        {
          onEvent(event) {
            if (lost || event.kind !== 'step-started' || event.step.id !== 'healthy-again') return
            lost = true
            loseVms(stage, 'web-[123]')
            stage.later(40 * second, () => stage.simulated.faults.set({ unschedulable: undefined }))
          },
        },
      )
      expect(ended.code).toBe(9)
      expect(ended.text).toMatch(/waiting for demo\/web-1, .* to run again/)
      expect(ended.documents.at(-1)).not.toHaveProperty('degraded')
    })
  })

  test('none of 6, each with a message of its own: Degraded, and the first of them is told', async () => {
    await play({ ...byManifest, vms: 6 }, async (stage) => {
      await stage.simulated.stop()
      for (const [index, name] of sixNames.entries())
        failing(stage, name, `failed to attach volume pvc-${index}a7f3: rpc error`)
      const observed = await statusOf(stage, { exitCode: true })
      expect(observed.code).toBe(3)
      expect(observed.document.why?.[0]?.sentence).toMatch(
        /^6 of 6 VMs that should run are not running: CrashLoopBackOff: reasons differ; the first: failed to attach volume pvc-\da7f3/,
      )
    })
  })
})

const sixNames = ['web-1', 'web-2', 'web-3', 'web-4', 'web-5', 'web-6']

/** Of a cluster that stands still: nobody writes anything else. */
function failing({ simulated: { store }, now }: Stage, name: string, message: string): void {
  const lastTransitionTime = new Date(now - 10 * minute).toISOString()
  const conditions = [
    { type: 'Failure', status: 'True', reason: 'FailedCreate', message, lastTransitionTime },
  ]
  const ref = { namespace: 'demo', name }
  store.remove(VirtualMachineInstances, ref, { now: true })
  const vm = store.read(VirtualMachines, ref) as VirtualMachine
  store.put(VirtualMachines, {
    ...vm,
    status: { printableStatus: 'CrashLoopBackOff', conditions },
  } as VirtualMachine)
}
