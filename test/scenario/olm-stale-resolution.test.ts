import { expect, test } from 'vitest'
import type { Writer } from '../../src/lib/kube/cluster.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { condition } from '../../src/lib/kube/object.ts'
import { type Subscription, Subscriptions } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { minute, play, type Stage } from './stage.ts'

const shape = {
  methods: ['LiveMigrate'],
  workers: 1,
  controlPlanes: 1,
  olm: okdOlm({ installed: '1.16.0', channel: 'stable-v1.16' }),
}
const brief = { stableFor: '5s' }
const annotation = 'kvup.io/resolve-again'

const subscription = ({ simulated }: Stage): Subscription | undefined =>
  (simulated.store.list(Subscriptions).items as Subscription[])[0]

/** The values that the annotation has had until now, of all Subscriptions. */
function watchAnnotation({ simulated: { store } }: Stage): Set<string> {
  const seen = new Set<string>()
  store.watch(Subscriptions, ({ object }) => {
    const value = object.metadata.annotations?.[annotation]
    if (value !== undefined) seen.add(value)
  })
  return seen
}

test('OLM stands at a resolution whose ground is gone: it is asked to look again, once in a hop', () =>
  play({ ...shape, faults: { resolutionStale: true } }, async (stage) => {
    const asked = watchAnnotation(stage)
    const ended = await stage.upgrade('1.18.1', brief)
    expect(ended.code).toBe(0)
    expect(ended.took).toBeLessThan(30 * minute)
    const said = ended.events.flatMap((event) => (event.kind === 'step-applied' ? [event.change] : []))
    expect(said.filter((one) => one.includes(annotation))).toEqual([
      `annotate subscription hco-operatorhub with ${annotation}, so that OLM checks the namespace again: it has not since kubevirt-hyperconverged-operator.v1.16.0 went`,
    ])
    expect(asked.size).toBe(1)
    expect(subscription(stage)?.metadata.annotations?.[annotation]).toMatch(/^\d{4}-\d\d-\d\dT/)
  }))

test('GitOps owns the Subscription: nothing is written there, and OLM looks again by itself', () =>
  play({ ...shape, faults: { resolutionStale: true } }, async (stage) => {
    const labels = { 'argocd.argoproj.io/instance': 'virt' }
    const { metadata } = subscription(stage) ?? { metadata: { name: '' } }
    await stage.cluster.writer.mergePatch(Subscriptions, metadata, { metadata: { labels } })
    const asked = watchAnnotation(stage)
    const ended = await stage.upgrade('1.18.1', brief)
    expect(ended.code).toBe(0)
    expect(asked.size).toBe(0)
    expect(JSON.stringify(ended.events)).toContain(
      'which takes up to 15m: its Subscription belongs to Argo CD application, and kvup writes nothing there',
    )
  }))

test('OLM does not look again even so: that is a fault after two minutes, and said with what shows it', () =>
  play({ ...shape, faults: { resolutionStale: 'for-ever' } }, async (stage) => {
    const asked = watchAnnotation(stage)
    const ended = await stage.upgrade('1.18.1', { ...brief, timeout: '30m' })
    expect(ended.code).toBe(4)
    expect(asked.size).toBe(1)
    expect(condition(subscription(stage)!, 'ResolutionFailed')?.status).toBe('True')
    expect(ended.text).toContain(
      'OLM has not resolved again since kubevirt-hyperconverged-operator.v1.16.0 went',
    )
    expect(ended.text).toContain('nor after kvup annotated subscription hco-operatorhub')
    expect(ended.text).toContain('kubectl get pods -A -l app=catalog-operator')
  }))

/** The same cluster, whose server answers so to the annotation. */
function refusing({ cluster }: Stage, error: ApiError) {
  const tries: number[] = []
  const { writer } = cluster
  const jsonPatch: Writer['jsonPatch'] = (kind, ref, operations, on) => {
    if (!JSON.stringify(operations).includes('resolve-again'))
      return writer.jsonPatch(kind, ref, operations, on)
    tries.push(error.status)
    return Promise.reject(error)
  }
  const bound: Writer = {
    create: writer.create.bind(writer),
    mergePatch: writer.mergePatch.bind(writer),
    apply: writer.apply.bind(writer),
    delete: writer.delete.bind(writer),
    subresource: writer.subresource.bind(writer),
    jsonPatch,
  }
  return { cluster: { ...cluster, writer: bound }, tries }
}

test.each([
  [403, 'Forbidden', 1],
  [409, 'Conflict', 3],
  [422, 'Invalid', 3],
] as const)(
  'the annotation only hurries: where the server answers %i to it, the run waits for OLM',
  (status, reason, times) =>
    play({ ...shape, faults: { resolutionStale: true } }, async (stage) => {
      const { cluster, tries } = refusing(stage, new ApiError(status, reason, 'not here'))
      const ended = await stage.upgrade('1.18.1', brief, { cluster })
      expect(ended.code).toBe(0)
      expect(tries).toHaveLength(times)
      expect(JSON.stringify(ended.events)).toContain(
        'which takes up to 15m: kvup could not annotate subscription hco-operatorhub',
      )
    }),
)
