import { expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { dryRunProcedure } from '../../../src/lib/engine/procedure-dry-run.ts'
import type { Procedure } from '../../../src/lib/engine/step.ts'
import { ApiError } from '../../../src/lib/kube/errors.ts'
import { awaitOn, Engine, flip, procedureOf, setting } from './engine.ts'

const dryRunSteps = (engine: Engine, procedure: Procedure, mode: 'client' | 'server') =>
  dryRunProcedure(procedure, {
    cluster: engine.fake.cluster(),
    clock: engine.clock,
    journal: engine.journal(),
    mode,
    signal: engine.stop.signal,
  })

test('says what would change, what is so already, and what cannot be known', async () => {
  const engine = new Engine({ a: 'on', d: 'on' })
  const steps = [flip('a'), flip('b'), awaitOn('c'), awaitOn('d'), flip('e'), flip('f', { dependsOn: ['b'] })]
  expect(await dryRunSteps(engine, procedureOf(...steps), 'client')).toMatchObject([
    { id: 'a', state: 'already-so' },
    { id: 'b', state: 'would-change', change: 'set b to on' },
    { id: 'c', state: 'depends', dependsOn: 'b' },
    { id: 'd', state: 'depends', dependsOn: 'b' },
    { id: 'e', state: 'would-change' },
    { id: 'f', state: 'depends', dependsOn: 'b' },
  ])
  expect(engine.fake.writes()).toEqual([])
})

test('what a refused step would have done is not missed by the steps behind it', async () => {
  const engine = new Engine()
  const blocked = { is: 'blocked', reason: 'unread', by: 'it was not read' } as const
  const steps = [flip('a', { check: async () => blocked }), awaitOn('b', { check: async () => blocked })]
  expect(await dryRunSteps(engine, procedureOf(...steps), 'client')).toMatchObject([
    { id: 'a', state: 'waits', refused: { reason: 'unread' } },
    { id: 'b', state: 'depends', dependsOn: 'a' },
  ])
})

test('what is waited for before any change is a wait', async () => {
  const engine = new Engine()
  expect(await dryRunSteps(engine, procedureOf(awaitOn('a')), 'client')).toMatchObject([
    { id: 'a', state: 'waits', on: 'a (now off)' },
  ])
})

test('on the server every change is a dry run, the journal stays in memory, and no lock is taken', async () => {
  const engine = new Engine()
  const journalling = flip('a', {
    async apply({ writer, journal, clock }) {
      await journal.record({
        at: clock.now().toISOString(),
        by: '',
        procedure: '',
        step: 'a',
        what: 'intends',
        text: '',
      })
      await writer.mergePatch(ConfigMaps, setting, { data: { a: 'on' } })
    },
  })
  expect(await dryRunSteps(engine, procedureOf(journalling), 'server')).toMatchObject([
    { state: 'would-change' },
  ])
  expect(engine.fake.writes().map(({ verb }) => verb)).toEqual(['dry-patch'])
  expect(engine.value('a')).toBeUndefined()
  expect(await engine.history()).toEqual([])
})

test('what the server refuses, and what is blocked, is told per step', async () => {
  const engine = new Engine()
  engine.fake.before = ({ verb }) => {
    if (verb === 'dry-patch') throw new ApiError(422, 'Invalid', 'admission webhook denied the request')
  }
  const stuck = flip('b', { check: async () => ({ is: 'blocked', by: 'a budget', reason: 'budget' }) })
  expect(await dryRunSteps(engine, procedureOf(flip('a')), 'server')).toMatchObject([
    { state: 'would-change', refused: { message: 'admission webhook denied the request' } },
  ])
  expect(await dryRunSteps(engine, procedureOf(stuck), 'server')).toMatchObject([
    { state: 'waits', refused: { reason: 'budget', message: 'a budget' } },
  ])
})
