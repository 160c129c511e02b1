import { expect, test } from 'vitest'
import type { Entry } from '../../../src/lib/engine/journal.ts'
import { sealedFact, type SealedFact } from '../../../src/lib/engine/sealed-plan.ts'
import { begunSteps, ownWork, withResults } from '../../../src/lib/upgrade/sealed-facts.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import type { UpgradePlan } from '../../../src/lib/upgrade/upgrade-plan.ts'
import fixture from './own-work.json' with { type: 'json' }

const asked = { to: parseVersion('v1.9.0'), request: {} } as Pick<UpgradePlan, 'to' | 'request'>
const isOurs = (
  fact: Partial<SealedFact>,
  change: { path: string; from?: string[]; to?: string | string[] },
  ...begun: string[]
) => ownWork(asked, new Set(begun))({ ...sealedFact('kubevirt', '', {}), ...fact }, change)

const entry = (step: string, what: Entry['what'], plan?: string) =>
  ({ at: '', by: '', procedure: '', step, what, text: '', ...(plan && { plan }) }) satisfies Entry

test('the journal tells which steps of this plan have begun: not those of another, not those that were only planned', () => {
  const entries = [
    entry('hold', 'intends', 'mine'),
    entry('tag', 'intends', 'other'),
    entry('tag', 'started', 'mine'),
    entry('old', 'intends'),
  ]
  expect([...begunSteps(entries, 'mine')]).toEqual(['hold'])
})

test.each(
  fixture.rows as unknown as [
    string,
    Partial<SealedFact>,
    { path: string; from?: string[]; to?: string | string[] },
    string[],
    boolean,
  ][],
)('%s', (...row) => {
  const [, fact, change, begun, expected] = row
  expect(isOurs(fact, change, ...begun)).toBe(expected)
})

test('what kvup worked out itself lacks the defaults of the server: a field more is no drift, another value is', () => {
  const fields = [{ path: 'spec.a', from: 'x', to: 'y' }]
  const by = (who: 'server' | 'client') => ({
    id: 'operator',
    becomes: [{ step: 'apply-operator-manifest', by: who, fields }],
  })
  expect(isOurs(by('client'), { path: 'spec.b', to: 'default' }, 'apply-operator-manifest')).toBe(true)
  expect(isOurs(by('client'), { path: 'spec.a', to: 'z' }, 'apply-operator-manifest')).toBe(false)
  expect(isOurs(by('server'), { path: 'spec.b', to: 'default' }, 'apply-operator-manifest')).toBe(false)
})

const changeOf = (name: string, to: string) => ({
  object: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'kubevirt', name },
  is: 'changed' as const,
  by: 'server' as const,
  fields: [{ path: 'spec.replicas', to }],
})

test('what a step makes of an object belongs to the fact of that object, not to another of its kind', () => {
  const fact = sealedFact('operator', 'deployments/virt-operator in namespace kubevirt', {})
  const step = {
    id: 'apply-operator-manifest',
    title: '',
    state: 'would-change' as const,
    estimate: 0,
    risk: { undo: '', safeToLeave: '' },
    changes: [changeOf('beside-it', '9'), changeOf('virt-operator', '3')],
  }
  expect(withResults(fact, [step]).becomes).toEqual([
    { step: step.id, by: 'server', fields: [{ path: 'spec.replicas', to: '3' }] },
  ])
  expect(withResults(sealedFact('nodes', 'the nodes', {}), [step]).becomes).toBeUndefined()
})

test('a field more of the KubeVirt is drift, whoever worked the result out: a patch of one field brings no defaults', () => {
  const fields = [{ path: 'spec.imageTag', from: 'v1.8.4', to: 'v1.9.0' }]
  const fact = { becomes: [{ step: 'set-image-tag', by: 'client', fields }] } as const
  expect(isOurs(fact, { path: 'spec.imageTag', to: 'v1.9.0' }, 'set-image-tag')).toBe(true)
  expect(isOurs(fact, { path: 'spec.imagePullPolicy', to: 'Always' }, 'set-image-tag')).toBe(false)
})
