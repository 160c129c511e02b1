import { stringify } from 'yaml'
import { expect, test } from 'vitest'
import { coveredBy, readSealed, sealedFact, sealPlan } from '../../../src/lib/engine/sealed-plan.ts'
import { KvupError } from '../../../src/lib/kube/errors.ts'
import fixture from './read-sealed.json' with { type: 'json' }

const unsealedPlan = fixture.plan
const { findings } = unsealedPlan
const seal = sealPlan(
  {
    uid: 'u',
    at: '2026-11-20T22:00:00Z',
    by: 'jane@here',
    cluster: 'c',
    kvup: '0.1.0',
    facts: [sealedFact('kubernetes', 'Kubernetes', { version: 'v1.35.4' })],
    unsealed: ['kubevirt', 'operator', 'crds', 'nodes'].map((id) => ({ id, why: 'forbidden' })),
  },
  coveredBy(unsealedPlan),
)
const plan = { ...unsealedPlan, seal }

const read = (text: string) => readSealed(text, 'plan.yaml', 'UpgradePlan')

/** What reading it ends with. */
function refusal(text: string): KvupError {
  try {
    read(text)
  } catch (error) {
    if (error instanceof KvupError) return error
    throw error
  }
  throw new Error('it was read')
}

test('YAML and JSON of the same plan are the same', () => {
  expect(read(stringify(plan))).toEqual(read(JSON.stringify(plan)))
  expect(read(stringify(plan))).toMatchObject({ steps: ['a', 'b'], request: { to: 'v1.9.0' }, seal })
})

test('a command in it may be printed in another way, and what nobody decides by may be left out', () => {
  const remedy = ['kvup --context a status']
  const printed = {
    ...plan,
    findings: [{ ...findings[0], remedy }],
    next: ['x'],
    steps: [{ id: 'a', title: 'A' }, { id: 'b' }],
  }
  expect(read(stringify(printed)).steps).toEqual(['a', 'b'])
})

const levels = ['b', 'c', 'd', 'e', 'f', 'g', 'h']
const tower = levels.map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[i]}`).join(',')}]`)
const bomb = ['a: &a [x,x,x,x,x,x,x,x,x,x]', ...tower, ''].join('\n')

test.each([
  ['nothing', '', 'it is empty'],
  ['a line', 'hello', 'it has no document'],
  ['broken YAML, with the line', 'apiVersion: kvup.io/v1alpha1\nkind: [UpgradePlan\n', 'plan.yaml:3'],
  ['JSON that is cut off', JSON.stringify(plan, null, 1).slice(0, 90), 'plan.yaml:'],
  ['YAML that is cut off', stringify(plan).slice(0, 70), 'its seal is incomplete'],
  ['another kind', stringify({ ...plan, kind: 'CheckReport' }), 'a document of kvup.io/v1alpha1 CheckReport'],
  [
    'a newer version',
    stringify({ ...plan, apiVersion: 'kvup.io/v2' }),
    'a document of kvup.io/v2 UpgradePlan',
  ],
  ['a dry run without a seal', stringify({ ...plan, seal: undefined }), 'its seal is incomplete'],
  [
    'a seal with half a fact',
    stringify({ ...plan, seal: { ...seal, facts: [{ id: 'nodes' }] } }),
    'its seal is incomplete',
  ],
  ['a tower of aliases', bomb, 'it is broken'],
  ['more than any plan', `a: ${'x'.repeat(20_000_001)}`, 'too large'],
])('%s is exit 2 and says why', (_, text, why) => {
  const { exitCode, reason, message } = refusal(text)
  expect({ exitCode, reason }).toEqual({ exitCode: 2, reason: 'not-a-plan' })
  expect(message).toContain(why)
})

test.each<[string, object, object?]>(fixture.edits as never)('%s was edited: exit 2', (_, edit, ofSeal) => {
  const edited = { ...plan, ...edit, seal: { ...seal, ...ofSeal } }
  expect(refusal(stringify(edited))).toMatchObject({ exitCode: 2, reason: 'plan-edited' })
})

test('a fact was edited: exit 2', () => {
  const facts = [sealedFact('kubernetes', 'Kubernetes', { version: 'v1.36.0' })]
  const edited = { ...plan, seal: { ...seal, facts } }
  expect(refusal(stringify(edited))).toMatchObject({ exitCode: 2, reason: 'plan-edited' })
})

const [fact] = seal.facts
const resealed = (more: object, over: object = {}) => {
  const { digest: _, ...rest } = { ...seal, ...more }
  return stringify({ ...plan, ...over, seal: sealPlan(rest, coveredBy({ ...unsealedPlan, ...over })) })
}

test('sealed again by hand it is read as it is', () => {
  expect(read(resealed({ by: 'joe@there' })).seal.by).toBe('joe@there')
})

test.each([
  ['no facts', resealed({ facts: [] })],
  ['a fact twice', resealed({ facts: [fact, fact] })],
  ['what could not be sealed, without a reason', resealed({ unsealed: [null] })],
  [
    'a result that is none',
    resealed({ facts: [{ ...fact, becomes: [{ step: 'a', by: 'x', fields: [null] }] }] }),
  ],
  [
    'a step that is a number',
    resealed({ facts: [{ ...fact, becomes: [{ step: 1, by: 'x', fields: [] }] }] }),
  ],
  ['a risk that is nothing', resealed({}, { accepted: [null] })],
  ['a risk that is a number', resealed({}, { accepted: [{ id: 5 }] })],
  ['a reason that is none', resealed({}, { accepted: [{ id: 'evictions', reason: {} }] })],
])('%s under a seal that was made by hand: exit 2', (_, text) => {
  expect(refusal(text)).toMatchObject({ exitCode: 2, reason: 'not-a-plan' })
})

test('a fact that shows something else than it is compared by: exit 2', () => {
  expect(refusal(resealed({ facts: [{ ...fact, leaves: { version: 'v1.0.0' } }] }))).toMatchObject({
    exitCode: 2,
    reason: 'plan-edited',
  })
})
