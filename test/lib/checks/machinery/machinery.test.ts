import { describe, expect, test } from 'vitest'
import {
  apiServices,
  caBundle,
  certificatesCheck,
  leaderLeases,
  webhooksAnswering,
} from '../../../../src/lib/checks/groups/machinery-checks.ts'
import type { Check } from '../../../../src/lib/checks/check-definition.ts'
import type { FullSnapshot } from '../../../../src/lib/kubevirt/full-snapshot.ts'
import type { Lease } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { itemsOf } from '../../../../src/lib/kube/known.ts'
import { ask, known, question, said } from '../evidence.ts'
import { apiService, at, goodCa, webhooks, wholeCluster } from '../whole-cluster.ts'
import { bundle, certificate } from './ca-text.ts'
import fixture from './machinery.json' with { type: 'json' }

const found = (check: Check, overrides: Partial<FullSnapshot>) =>
  ask(check, { snapshot: wholeCluster(overrides) })

const withCa = (text: string) => ({
  webhooks: known(webhooks({ caBundle: text })),
  apiServices: known(apiService('True', goodCa)),
})

const withLease = (lease: Lease, spec: Lease['spec']): Lease => ({
  ...lease,
  spec: { ...lease.spec, ...spec },
})

describe('api-services', () => {
  test('the name of its Service, which nobody checks, is safe to paste', () => {
    const service = {
      ...apiService('False'),
      spec: { service: { name: "x'; $(curl evil)\n→ y", namespace: 'a b' } },
    }
    const { findings } = found(apiServices, { apiServices: known(service) })
    expect(findings[0]?.remedy[1]).toBe(
      String.raw`kubectl -n 'a b' get endpointslices -l $'kubernetes.io/service-name=x\'; $(curl evil)\u000a→ y'`,
    )
  })

  test('one without a word on it is not available, one without a service is', () => {
    const { status: _, ...silent } = apiService()
    expect(found(apiServices, { apiServices: known(silent) }).is).toBe('found')
    const local = { ...silent, spec: { service: null } }
    expect(found(apiServices, { apiServices: known(local) }).is).toBe('passed')
  })
})

describe('webhooks-answering', () => {
  test.each([[{ service: 'virt-api', ready: 0 }], [{ service: 'virt-exportproxy', ready: 1 }]])(
    'no ready endpoint, %o: one blocker for all webhooks of the configuration',
    (endpoints) => {
      const { findings } = found(webhooksAnswering, { endpoints: known(endpoints) })
      expect(said(findings)).toEqual(['blocker webhooks-answering'])
      expect(findings[0]?.summary).toBe(
        'ValidatingWebhookConfiguration virt-api-validator calls service virt-api, which has no ready endpoint: the API server refuses what it covers',
      )
      expect(findings[0]?.objects).toHaveLength(2)
    },
  )

  test.each([
    ['', 'has no caBundle'],
    ['Cg==', 'has no caBundle'],
    ['bm90IGEgY2VydGlmaWNhdGU=', 'there is no PEM certificate in it'],
    [bundle('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'), 'cannot be read'],
  ])('a caBundle of %j', (text, why) => {
    const { findings } = found(webhooksAnswering, { webhooks: known(webhooks({ caBundle: text })) })
    expect(findings[0]?.summary).toContain(why)
  })

  test('that may fail is nobody’s trouble, and neither is a webhook of another namespace', () => {
    const endpoints = known({ service: 'virt-api', ready: 0 })
    const ignoring = known(webhooks({ failurePolicy: 'Ignore' }))
    expect(found(webhooksAnswering, { endpoints, webhooks: ignoring }).is).toBe('passed')
    const elsewhere = webhooks()
    for (const webhook of elsewhere.webhooks ?? [])
      webhook.clientConfig = { service: { namespace: 'shop', name: 'virt-api' } }
    expect(found(webhooksAnswering, { webhooks: known(elsewhere) }).is).toBe('passed')
  })

  test('night U5: one that the operator left behind may be deleted', () => {
    const left = known(webhooks({ name: 'virt-operator-tmp-webhook' }))
    const { findings } = found(webhooksAnswering, { webhooks: left, endpoints: known() })
    expect(findings[0]?.remedy).toEqual([
      expect.stringMatching(/^kubectl get \S+ virt-operator-tmp-webhook -o yaml {5}.*nothing is lost/u),
    ])
  })

  test.each([
    ['Updating', 'passed'],
    ['Stalled', 'passed'],
    ['Healthy', 'found'],
    ['Degraded', 'found'],
  ] as const)('what keeps new kinds out until virt-api is new, while KubeVirt is %s: %s', (verdict, is) => {
    const barrier = known(webhooks({ name: 'virt-operator-tmp-webhookngx6w' }))
    const snapshot = wholeCluster({ webhooks: barrier, endpoints: known() })
    const rolloutStatus = { ...question({ snapshot }).rolloutStatus, verdict }
    expect(ask(webhooksAnswering, { snapshot, rolloutStatus }).is).toBe(is)
  })
})

describe('certificates', () => {
  test.each(fixture.certificates)('$left days left after $since: $level', ({ since, left, level }) => {
    expect(said(found(certificatesCheck, withCa(bundle(certificate(at, { since, left })))).findings)).toEqual(
      level,
    )
  })

  test('the old CA beside the new one is how a rotation looks', () => {
    const rotated = bundle(certificate(at, { since: 7, left: -0.1 }), certificate(at, { since: 1, left: 6 }))
    expect(found(certificatesCheck, withCa(rotated)).is).toBe('passed')
    expect(caBundle(rotated)).toMatchObject({ is: 'certificates' })
  })

  test('APIServices are looked at too', () => {
    const expired = apiService('True', bundle(certificate(at, { since: 8, left: -1 })))
    expect(found(certificatesCheck, { apiServices: known(expired) }).findings[0]?.objects).toEqual([
      'apiservice/v1.subresources.kubevirt.io',
    ])
  })
})

describe('leader-leases', () => {
  const { leases, pods } = wholeCluster()
  const changed = (spec: Lease['spec']) => ({
    leases: known(
      ...itemsOf(leases).map((lease) =>
        lease.metadata.name === 'virt-operator' ? withLease(lease, spec) : lease,
      ),
    ),
  })

  test.each<[Lease['spec'], string]>(fixture.leases as never)('%o', (spec, why) => {
    const { findings } = found(leaderLeases, changed(spec))
    expect(said(findings)).toEqual(['blocker leader-leases'])
    expect(findings[0]?.summary).toContain(why)
  })

  test('a holder that has just gone is how each roll looks', () => {
    const renewTime = new Date(at.getTime() - 14_000).toISOString()
    const gone = { holderIdentity: 'virt-operator-1-gone', renewTime }
    expect(found(leaderLeases, changed(gone)).is).toBe('passed')
  })

  test('no Lease at all: neither is led', () => {
    expect(found(leaderLeases, { leases: known() }).findings).toHaveLength(2)
  })

  test('a holder that is no pod is known by its name only', () => {
    expect(found(leaderLeases, changed({ holderIdentity: 'laptop_9f2c' })).is).toBe('passed')
  })

  test('a pod with the random end that client-go adds', () => {
    const [name] = itemsOf(pods).map(({ metadata }) => metadata.name)
    expect(found(leaderLeases, changed({ holderIdentity: `${name}_4fe1` })).is).toBe('passed')
  })
})
