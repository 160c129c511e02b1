import { describe, expect, test } from 'vitest'
import type { Borrowable } from '../../../../src/lib/eus/settings/eus-settings.ts'
import {
  restoreField,
  type Restoring,
  takeField,
  type Taking,
} from '../../../../src/lib/eus/settings/setting-steps.ts'
import { type Death, immortal, mortal } from '../../../scenario/mortal-cluster.ts'
import {
  Borrowing,
  healthCheck,
  nodeHealthCheck,
  pausedHealthCheck,
  pausedNodeHealthCheck,
  pausedPool,
  pool,
} from './borrowing.ts'

const take = (field: Borrowable, options: Partial<Taking> = {}) =>
  takeField(field, { id: 'take', title: 'take', who: 'jane@here', procedure: 'eus to 4.20', ...options })
const restore = (field: Borrowable, options: Partial<Restoring> = {}) =>
  restoreField(field, { id: 'give', title: 'give', ...options })

const shapes = [
  { name: 'spec.paused that was absent', object: pool(), field: pausedPool },
  { name: 'spec.paused that was false', object: pool({ paused: false }), field: pausedPool },
  { name: 'an annotation of none', object: healthCheck(), field: pausedHealthCheck },
  { name: 'an annotation among others', object: healthCheck({ 'a/b': 'c' }), field: pausedHealthCheck },
  { name: 'an entry of no list', object: nodeHealthCheck(), field: pausedNodeHealthCheck },
  {
    name: 'an entry among others',
    object: nodeHealthCheck({ pauseRequests: ['somebody'] }),
    field: pausedNodeHealthCheck,
  },
]

function setUp({ object, field }: (typeof shapes)[number]) {
  const world = new Borrowing([object])
  const overrides = field(world.uidOf(field('')))
  return { world, field: overrides, before: world.bare(overrides) }
}

/** As the server leaves it out. */
const withoutEmpty = (object: unknown): unknown =>
  JSON.parse(JSON.stringify(object).replace(',"annotations":{}', ''))

describe.each(shapes)('$name', (shape) => {
  test('is taken, kept with its absence, and given back as it was', async () => {
    const { world, field, before } = setUp(shape)
    await world.run([take(field)])
    expect(world.bare(field)).not.toEqual(before)
    expect(await world.journal().overrides()).toMatchObject([
      { id: field.override, object: { uid: field.uid } },
    ])
    await world.run([restore(field)])
    expect(withoutEmpty(world.bare(field))).toEqual(before)
    expect(await world.journal().overrides()).toEqual([])
  })

  test('killed at each call, taken and given back on another machine: as it was', async () => {
    const { world, field } = setUp(shape)
    const counted = immortal(world.cluster)
    await world.run([take(field), restore(field)], counted)
    const deaths: Death[] = Array.from({ length: counted.calls() }, (_, at) => [
      { beforeCall: at + 1 },
      { afterCall: at + 1 },
    ]).flat()
    expect(deaths.length).toBeGreaterThan(20)
    // Each in one of the shapes, and in another with the next commit: they differ in what they write, not in how.
    const turn = shapes.indexOf(shape) + Number.parseInt(process.env['KVUP_SEED']?.slice(0, 4) ?? '0', 16)
    for (const death of deaths.filter((_, at) => at % shapes.length === turn % shapes.length)) {
      const again = setUp(shape)
      const cluster = mortal(again.world.cluster, death)
      const killed = again.world
        .run([take(again.field), restore(again.field)], cluster, 'dead')
        .catch(() => undefined)
      await cluster.death
      await killed
      await again.world.run([restore(again.field)], again.world.cluster, 'other')
      expect({ death, object: withoutEmpty(again.world.bare(again.field)) }).toEqual({
        death,
        object: again.before,
      })
      expect(await again.world.journal().overrides()).toEqual([])
    }
  })

  test('taken twice is taken once, and keeps the first value', async () => {
    const { world, field, before } = setUp(shape)
    await world.run([take(field)])
    await world.run([take(field)])
    await world.run([restore(field)])
    expect(withoutEmpty(world.bare(field))).toEqual(before)
  })
})

const paused = { name: 'paused before us', object: pool({ paused: true }), field: pausedPool }
const plain = { name: 'plain', object: pool(), field: pausedPool }

test('night E5: a pool that was paused before us is not ours: no loan, and it stays paused', async () => {
  const { world, field, before } = setUp(paused)
  await world.run([take(field), restore(field)])
  expect(world.bare(field)).toEqual(before)
  expect(await world.journal().entries()).not.toContainEqual(expect.objectContaining({ what: 'saved' }))
})

async function taken() {
  const set = setUp(plain)
  await set.world.run([take(set.field)])
  const edit = (spec: object) =>
    set.world.cluster.writer.mergePatch(set.field.kind, set.field.ref, { spec } as object)
  return { ...set, edit }
}

describe('someone else', () => {
  test.each([{ paused: false }, { paused: null }])(
    'unpauses it (%o): said and asked, not quietly paused again',
    async (spec) => {
      const { world, field, edit } = await taken()
      await edit(spec)
      await expect(world.run([take(field)])).rejects.toMatchObject({
        reason: 'override-changed',
        exitCode: 3,
      })
      expect(world.bare(field)).not.toMatchObject({ spec: { paused: true } })
      await world.run([take(field, { again: true })])
      expect(world.bare(field)).toMatchObject({ spec: { paused: true } })
      await world.run([restore(field)])
      expect(world.bare(field)).toMatchObject({ spec: { maxUnavailable: 1 } })
      expect(world.bare(field)).not.toHaveProperty('spec.paused')
    },
  )

  test('who unpaused it has done our work: the loan is closed', async () => {
    const { world, field, edit } = await taken()
    await edit({ paused: false })
    await world.run([restore(field)])
    expect(world.bare(field)).toMatchObject({ spec: { paused: false } })
    expect(await world.journal().overrides()).toEqual([])
  })

  test('made the object anew from a copy: asked, and taken again only when said so', async () => {
    const { world, field } = await taken()
    const { annotations = {} } = world.store.read(field.kind, { namespace: '', ...field.ref })?.metadata ?? {}
    expect(Object.keys(annotations)).toEqual(['kvup.io/saved-pool-paused'])
    await world.cluster.writer.delete(field.kind, field.ref)
    const { metadata, ...rest } = pool({ paused: true })
    await world.cluster.writer.create(field.kind, { ...rest, metadata: { ...metadata, annotations } })
    const renewed = pausedPool(world.uidOf(field))
    await expect(world.run([take(field)])).rejects.toMatchObject({ reason: 'override-replaced' })
    await expect(world.run([restore(renewed)])).rejects.toMatchObject({ reason: 'changed-meanwhile' })
    expect(world.bare(renewed)).toMatchObject({ spec: { paused: true } })
    await world.run([restore(renewed, { meanwhile: 'keep-current' })])
    expect(await world.journal().overrides()).toEqual([])
  })

  test('made the object anew, paused and without a note: it is theirs', async () => {
    const { world, field } = await taken()
    await world.cluster.writer.delete(field.kind, field.ref)
    await world.cluster.writer.create(field.kind, pool({ paused: true }))
    const renewed = pausedPool(world.uidOf(field))
    await world.run([restore(renewed)])
    expect(world.bare(renewed)).toMatchObject({ spec: { paused: true } })
    expect(await world.journal().overrides()).toEqual([])
  })

  test('took the note off: nothing is guessed, and a person is asked', async () => {
    const { world, field } = await taken()
    await world.cluster.writer.mergePatch(field.kind, field.ref, {
      metadata: { annotations: { 'kvup.io/saved-pool-paused': null } },
    })
    expect(await world.journal().overrides()).toEqual([])
    expect(await world.journal().missing()).toMatchObject([
      { id: 'pool-paused/worker', why: 'missing', claim: { was: { present: false } } },
    ])
    await world.run([restore(field)])
    expect(world.bare(field)).toMatchObject({ spec: { paused: true } })
  })

  test('deleted the object: there is nothing to give back to, and the journal says so', async () => {
    const { world, field } = await taken()
    await world.cluster.writer.delete(field.kind, field.ref)
    await world.run([restore(field)])
    expect(await world.journal().overrides()).toEqual([])
    expect((await world.journal().entries()).findLast(({ what }) => what === 'closed')?.text).toContain(
      'is gone',
    )
  })

  test.each([
    ['ask', 'theirs', 1],
    ['overwrite', 'by me', 0],
    ['keep-current', 'theirs', 0],
  ] as const)('set another value: %s', async (meanwhile, now, open) => {
    const world = new Borrowing([healthCheck({ 'cluster.x-k8s.io/paused': 'by me' })])
    const field = pausedHealthCheck(world.uidOf(pausedHealthCheck('')))
    await world.run([take(field)])
    const theirs = { metadata: { annotations: { 'cluster.x-k8s.io/paused': 'theirs' } } }
    await world.cluster.writer.mergePatch(field.kind, field.ref, theirs)
    const refusal = await world.run([restore(field, { meanwhile })]).then(
      () => undefined,
      ({ reason }: { reason: string }) => reason,
    )
    expect(refusal).toBe(open === 1 ? 'changed-meanwhile' : undefined)
    expect(world.bare(field)).toMatchObject({ metadata: { annotations: { 'cluster.x-k8s.io/paused': now } } })
    expect(await world.journal().overrides()).toHaveLength(open)
  })

  test('adds a pause request of their own: it stays when ours goes', async () => {
    const world = new Borrowing([nodeHealthCheck()])
    const field = pausedNodeHealthCheck(world.uidOf(pausedNodeHealthCheck('')))
    await world.run([take(field)])
    await world.cluster.writer.mergePatch(field.kind, field.ref, {
      spec: { pauseRequests: ['kvup', 'theirs'] },
    } as object)
    await world.run([restore(field)])
    expect(world.bare(field)).toMatchObject({ spec: { pauseRequests: ['theirs'] } })
  })
})

test('what is not to be given back any more is closed with its reason, and stays', async () => {
  const { world, field } = await taken()
  await world.run([restore(field, { closeBecause: 'the platform has accepted a step' })])
  expect(world.bare(field)).toMatchObject({ spec: { paused: true } })
  expect((await world.journal().entries()).findLast(({ what }) => what === 'closed')?.text).toContain(
    'the platform has accepted a step',
  )
})
