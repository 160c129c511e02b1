import { describe, expect, test } from 'vitest'
import { type ConfigMap, ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import type { Writer } from '../../../src/lib/kube/cluster.ts'
import { dryRunProcedure, type DryRunContext } from '../../../src/lib/engine/procedure-dry-run.ts'
import type { Step, StepContext } from '../../../src/lib/engine/step.ts'
import { ApiError, usageError } from '../../../src/lib/kube/errors.ts'
import { Engine, flip, namespace, procedureOf, setting } from './engine.ts'

type Mode = DryRunContext['mode']
const modes: Mode[] = ['client', 'server', 'auto']

async function dryRunSteps(engine: Engine, mode: Mode, ...steps: Step[]) {
  return dryRunProcedure(procedureOf(...steps), {
    cluster: engine.fake.cluster(),
    clock: engine.clock,
    journal: engine.journal(),
    mode,
    signal: engine.stop.signal,
  })
}

const doing = (apply: (cx: StepContext) => Promise<unknown>) =>
  flip('a', { apply: async (cx) => void (await apply(cx)) })

const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'setting' }
const by = (mode: Mode) => (mode === 'client' ? 'client' : 'server')

describe.each(modes)('by %s', (mode) => {
  test('a patch is told by its fields, without what the server keeps', async () => {
    const engine = new Engine({ a: 'off', b: 'stays' })
    const [step] = await dryRunSteps(engine, mode, flip('a'))
    const fields = [{ path: 'data.a', from: 'off', to: 'on' }]
    expect(step?.changes).toEqual([{ object, is: 'changed', fields, by: by(mode) }])
    expect(engine.value('a')).toBe('off')
  })

  test('a write that changes nothing is not listed', async () => {
    const engine = new Engine({ b: 'so' })
    const same = doing(({ writer }) => writer.mergePatch(ConfigMaps, setting, { data: { b: 'so' } }))
    const [step] = await dryRunSteps(engine, mode, same)
    expect(step).toMatchObject({ state: 'would-change' })
    expect(step).not.toHaveProperty('changes')
  })

  test('created, deleted and called', async () => {
    const engine = new Engine()
    const made: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'new', namespace },
      data: { x: '1' },
    }
    const [step] = await dryRunSteps(
      engine,
      mode,
      doing(async ({ writer }) => {
        await writer.create(ConfigMaps, made)
        await writer.subresource(ConfigMaps, setting, { name: 'poke', method: 'PUT', body: {} })
        if (mode === 'client') await writer.delete(ConfigMaps, setting)
      }),
    )
    expect(step?.changes?.map(({ is, object: { name }, call }) => [is, name, call])).toEqual([
      ['created', 'new', undefined],
      ...(mode === 'client' ? [['deleted', 'setting', undefined]] : []),
      ['called', 'setting', 'poke'],
    ])
    expect(step?.changes?.[0]?.fields).toContainEqual({ path: 'data.x', to: '1' })
    expect(engine.fake.peek(ConfigMaps, { name: 'new', namespace })).toBeUndefined()
  })

  test('two writes on one object are one change, and the step reads what it wrote', async () => {
    const engine = new Engine({ a: 'off' })
    const observed: unknown[] = []
    const [step] = await dryRunSteps(
      engine,
      mode,
      doing(async ({ reader, writer }) => {
        await writer.mergePatch(ConfigMaps, setting, { data: { a: 'half' } })
        const found = await reader.get(ConfigMaps, setting)
        if (found.is !== 'object') throw new Error('gone')
        observed.push(found.object.data?.['a'])
        const { resourceVersion = '' } = found.object.metadata
        await writer.mergePatch(ConfigMaps, setting, {
          metadata: { resourceVersion },
          data: { a: 'on', b: 'x' },
        })
      }),
    )
    expect(observed).toEqual(['half'])
    expect(step?.refused).toBeUndefined()
    expect(step?.changes).toMatchObject([
      {
        fields: [
          { path: 'data.a', from: 'off', to: 'on' },
          { path: 'data.b', to: 'x' },
        ],
      },
    ])
  })

  test('what one step would change the next one does not see', async () => {
    const engine = new Engine()
    const [, second] = await dryRunSteps(engine, mode, flip('a'), flip('b'))
    expect(second?.changes?.[0]?.fields).toEqual([{ path: 'data.b', to: 'on' }])
  })

  test('a loan is kept by the step that opens it, with the step that gives it back; the journal and the lock are no changes', async () => {
    const engine = new Engine()
    const override = {
      id: 'x',
      procedure: 'p',
      object: { ...object, uid: 'u' },
      path: '/data/a',
      was: { present: true, value: ['LiveMigrate'] },
      by: 'jane',
      at: engine.clock.now().toISOString(),
    } as const
    const overriding = doing(({ journal }) => journal.override(override))
    const [step] = await dryRunSteps(engine, mode, overriding, flip('b'), flip('back', { dependsOn: ['a'] }))
    expect(step?.overrides).toEqual([
      { override: 'x', path: '/data/a', value: ['LiveMigrate'], restoredBy: 'back' },
    ])
    expect(step).not.toHaveProperty('changes')
    expect(await engine.journal().overrides()).toEqual([])
  })
})

describe('client', () => {
  test('sends nothing but reads', async () => {
    const engine = new Engine()
    await dryRunSteps(engine, 'client', flip('a'))
    expect(new Set(engine.fake.calls.map(({ verb }) => verb))).toEqual(new Set(['find', 'list']))
  })

  const other = { name: 'other', namespace }
  const whole = { apiVersion: 'v1', kind: 'ConfigMap', metadata: setting }
  test.each<[string, (writer: Writer) => Promise<unknown>, RegExp]>([
    ['an object that is not there', (w) => w.mergePatch(ConfigMaps, other, {}), /other .*not found/],
    ['one that is there already', (w) => w.create(ConfigMaps, whole), /already exists/],
    [
      'a resourceVersion that is not the present one',
      (w) => w.mergePatch(ConfigMaps, setting, { metadata: { resourceVersion: 'old' } }),
      /changed by someone else/,
    ],
    [
      'a test that fails',
      (w) => w.jsonPatch(ConfigMaps, setting, [{ op: 'test', path: '/data/a', value: 'no' }]),
      /not as the patch expects/,
    ],
    ['another object of that name', (w) => w.delete(ConfigMaps, setting, { uid: 'no' }), /another object/],
  ])('refuses %s, as a server would', async (_, write, message) => {
    const [step] = await dryRunSteps(
      new Engine({ a: 'off' }),
      'client',
      doing(({ writer }) => write(writer)),
    )
    expect(step?.refused?.message).toMatch(message)
    expect(step).not.toHaveProperty('changes')
  })

  test('an apply without force does not take somebody’s field', async () => {
    const engine = new Engine()
    const theirs = { manager: 'helm', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } }
    engine.fake.put(ConfigMaps, { metadata: { ...setting, managedFields: [theirs] }, data: { a: 'off' } })
    const wanted: ConfigMap = { ...whole, data: { a: 'on' } }
    const applying = (force: boolean) => doing(({ writer }) => writer.apply(ConfigMaps, wanted, { force }))
    const [refused] = await dryRunSteps(engine, 'client', applying(false))
    expect(refused?.refused?.message).toMatch(/has fields of helm/)
    const [forced] = await dryRunSteps(engine, 'client', applying(true))
    expect(forced?.changes?.[0]?.fields).toEqual([{ path: 'data.a', from: 'off', to: 'on' }])
  })
})

/** A server that answers every dry run with this. */
function refusing(error: Error, denied = false): Engine {
  const engine = new Engine({ a: 'off' })
  engine.fake.before = ({ verb }) => {
    if (verb.startsWith('dry-')) throw error
  }
  engine.fake.denied = () => denied
  return engine
}

describe('auto', () => {
  test.each([
    ['no right to patch', new ApiError(403, 'Forbidden', 'User "jane" cannot patch'), true],
    ['no such method', new ApiError(405, 'MethodNotAllowed', 'not allowed'), false],
    [
      'a webhook without dry runs',
      new ApiError(400, 'BadRequest', 'admission webhook "x" does not support dry run'),
      false,
    ],
    ['a call without dry runs', usageError('no-dry-run', 'KubeVirt has no dry run for it'), false],
  ])('%s: kvup works it out, and nothing is refused', async (_, error, denied) => {
    const [step] = await dryRunSteps(refusing(error, denied), 'auto', flip('a'))
    expect(step?.refused).toBeUndefined()
    expect(step?.changes).toMatchObject([
      { by: 'client', fields: [{ path: 'data.a', from: 'off', to: 'on' }] },
    ])
  })

  test.each([
    ['a 403 of somebody who may patch: a quota, a policy', new ApiError(403, 'Forbidden', 'exceeded quota')],
    ['a webhook that says no', new ApiError(400, 'BadRequest', 'admission webhook denied the request')],
    ['an object that is not valid', new ApiError(422, 'Invalid', 'spec.x: unknown')],
    ['a server that is away', new ApiError(503, '', 'unavailable')],
  ])('%s is refused still', async (_, error) => {
    const [step] = await dryRunSteps(refusing(error), 'auto', flip('a'))
    expect(step?.refused?.message).toBe(error.message)
    expect(step).not.toHaveProperty('changes')
  })

  test('the server alone never falls back', async () => {
    const error = new ApiError(403, 'Forbidden', 'cannot patch')
    const [step] = await dryRunSteps(refusing(error, true), 'server', flip('a'))
    expect(step?.refused).toMatchObject({ reason: 'forbidden' })
  })
})
