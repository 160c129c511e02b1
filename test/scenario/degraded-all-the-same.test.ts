import { describe, expect, test } from 'vitest'
import { status, type StatusOptions } from '../../src/commands/status.ts'
import { wait } from '../../src/commands/wait.ts'
import { EndpointSlices } from '../../src/lib/cluster/kinds/endpoint-slices.ts'
import { type ApiService, ApiServices, ValidatingWebhooks } from '../../src/lib/cluster/kinds/extension.ts'
import { Leases } from '../../src/lib/cluster/kinds/core.ts'
import type { StatusDocument } from '../../src/lib/output/views/status.ts'
import type { OperatorFaults } from '../../src/lib/simulator/virt-operator/faults.ts'
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
    names: /^virt-operator is gone or hangs: .*did not change while it was watched for 30 s$/,
    next: /logs -l kubevirt\.io=virt-operator/,
  },
  {
    name: 'the certificate of virt-api has ended',
    faults: { expired: ['virt-api'] },
    names: /APIServices v1\.subresources.*, v1alpha3\.subresources.*certificate has expired/,
    next: /openssl x509 -noout -enddate/,
  },
]

describe.for(cases)('KubeVirt says that all is well, and $name', ({ faults, names, next }) => {
  test('status: Degraded, exit 3 by --exit-code, with cause and next line within 60 s', async () => {
    await play(settled, async (stage) => {
      stage.simulated.faults.set(faults)
      await stage.until(30 * second)
      const seen = await statusOf(stage, { exitCode: true })
      expect(seen.took).toBeLessThanOrEqual(minute)
      expect(seen.code).toBe(3)
      expect(seen.document).toMatchObject({ verdict: 'Degraded' })
      expect(seen.document.conditions?.every(({ judged }) => judged === 'good')).toBe(true)
      expect(seen.document.why?.[0]?.sentence).toMatch(names)
      expect(seen.document.why?.flatMap(({ look }) => look).join('\n')).toMatch(next)
      expect(Date.parse(seen.document.why?.[0]?.since ?? '')).toBeLessThanOrEqual(stage.now - 30 * second)
    })
  })

  test('wait --for settled goes on waiting, says why, and ends once it is mended', async () => {
    await play(settled, async (stage) => {
      stage.simulated.faults.set(faults)
      await stage.until(30 * second)
      stage.later(4 * minute, () => stage.simulated.faults.set(off(faults)))
      const ended = await stage.perform((cx) => wait(cx, { for: 'settled', timeout: '20m' }).then(() => 0))
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

  test('an upgrade that ends so has no success mark: exit 3 within two minutes of the rest, and the next run ends it', async () => {
    await play({ ...byTag, vms: 2 }, async (stage) => {
      let there = Infinity
      const ended = await stage.upgrade(
        'v1.8.4',
        {},
        {
          onEvent(event) {
            const settling = event.kind === 'step-waiting' && event.step.id === 'settled'
            if (!settling || !/stay settled/.test(JSON.stringify(event.state)) || there < Infinity) return
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
          event.kind === 'step-waiting' && /gone or hangs|certificate/.test(JSON.stringify(event.state)),
      )
      expect(Date.parse(named?.at ?? '') - there).toBeLessThan(minute)
      stage.simulated.faults.set(off(faults))
      await stage.until(minute)
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })

  test('where the goal is reached already, it is not said that there is nothing to do', async () => {
    await play({ ...byTag, vms: 2 }, async (stage) => {
      expect(await stage.upgrade('v1.8.4')).toMatchObject({ code: 0 })
      stage.simulated.faults.set(faults)
      await stage.until(minute)
      const ended = await stage.upgrade('v1.8.4')
      expect(ended.code).toBe(3)
      expect(ended.text).not.toContain('nothing to do')
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
      (event) => event.kind === 'step-waiting' && /gone or hangs/.test(JSON.stringify(event.state)),
    )
    expect(Date.parse(named?.at ?? '') - stopped).toBeLessThan(minute)
    expect(ended.error?.message).toContain('virt-operator is gone or hangs')
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
    const seen = await statusOf(stage)
    stop()
    expect(seen.document).toMatchObject({ verdict: 'Settled', why: [] })
    expect(seen.took).toBeGreaterThan(0)
    expect(seen.took).toBeLessThan(15 * second)
    expect(seen.lines[0]).toMatch(/older than its term: watching for up to 30 s/)
  })
})

test('a settled cluster is looked at once, without a wait', async () => {
  await play(settled, async (stage) => {
    const seen = await statusOf(stage)
    expect(seen.document).toMatchObject({ verdict: 'Settled', why: [] })
    expect(seen.document.remarks ?? []).toEqual([])
    expect(seen.took).toBeLessThan(second)
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
    unavailable('v1beta1.upload.cdi.kubevirt.io', { 'app.kubernetes.io/managed-by': 'cdi-operator' })
    await stage.until(30 * second)
    expect((await statusOf(stage)).document).toMatchObject({ verdict: 'Settled' })
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
