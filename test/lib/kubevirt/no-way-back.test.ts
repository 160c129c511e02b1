import { expect, test } from 'vitest'
import { noWayBack } from '../../../src/lib/kubevirt/stored-versions.ts'
import type { RolloutStatus } from '../../../src/lib/kubevirt/rollout-status.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { parseVersion } from '../../../src/lib/releases/release-versions.ts'
import { crd, question } from '../checks/evidence.ts'

const forgets = 'kvup explain no-way-back     shows when a stored version can be removed from a CRD'
const group = 'export.kubevirt.io'
const before = crd('virtualmachineexports', group, ['v1beta1', 'v1alpha1'], ['v1beta1'])
const replaced = crd('virtualmachineexports', group, ['v1', 'v1beta1'], ['v1beta1', 'v1'])

const at = (more: Partial<RolloutStatus>): RolloutStatus => ({ ...question().rolloutStatus, ...more })
const underWay = at({
  verdict: 'Stalled',
  observed: { version: 'v1.8.4', id: 'a' },
  target: { version: 'v1.9.0', id: 'b' },
})
const back = (to: string, crds = [replaced], rolloutStatus = underWay) =>
  noWayBack(parseVersion(to), crds, { rolloutStatus, releases: knownReleases })

test('open until the CRDs are replaced, closed from then on, whatever the release data say of the pair', () => {
  expect(back('v1.8.4', [before])).toBeUndefined()
  expect(back('v1.9.0')).toBeUndefined()
  expect(back('v1.8.4')).toMatchObject({
    id: 'no-way-back',
    level: 'blocker',
    objects: ['customresourcedefinition/virtualmachineexports.export.kubevirt.io'],
  })
  expect(back('v1.8.4')?.summary).toContain(
    'virtualmachineexports.export.kubevirt.io stores v1, which v1.8.4',
  )
})

test('the same name of a version in another group counts for nothing', () => {
  expect(back('v1.8.4', [crd('virtualmachines', 'kubevirt.io', ['v1'], ['v1'])])).toBeUndefined()
})

test('every CRD of a group, and all that each is ahead by', () => {
  const crds = ['virtualmachinesnapshots', 'virtualmachinerestores'].map((plural) =>
    crd(plural, 'snapshot.kubevirt.io', ['v1beta1', 'v1alpha1'], ['v1alpha1', 'v1beta1']),
  )
  const found = back('v1.2.2', [...crds, crd('virtualmachineexports', group, ['v1'], ['v1beta1', 'v1'])])
  expect(found?.objects).toHaveLength(3)
  expect(found?.summary).toContain('virtualmachineexports.export.kubevirt.io stores v1beta1 and v1')
})

test('the remedy leads forward: to the end of the update, to a later patch, or nowhere', () => {
  expect(back('v1.8.4')?.remedy).toEqual([
    'kvup upgrade --to v1.9.0     continues the upgrade to its end',
    'kvup status     shows what to repair first',
    forgets,
  ])
  const settled = at({ verdict: 'Healthy', observed: { version: 'v1.9.0' }, target: { version: 'v1.9.0' } })
  expect(back('v1.8.4', [replaced], settled)?.remedy).toEqual([
    'Keep v1.9.0, or upgrade to a newer patch of v1.9',
    forgets,
  ])
  const pools = [crd('virtualmachinepools', 'pool.kubevirt.io', ['v1beta1'], ['v1beta1'])]
  const older = at({ verdict: 'Healthy', observed: { version: 'v1.7.0' }, target: { version: 'v1.7.0' } })
  expect(back('v1.6.6', pools, { ...older, operator: undefined })?.remedy).toEqual([
    'kvup upgrade --to v1.7.4     goes forward instead, to the newest patch of v1.7',
    forgets,
  ])
  const ahead = at({ verdict: 'Healthy', observed: { version: 'v1.7.4' }, target: { version: 'v1.7.4' } })
  const newer = { ...ahead, operator: { version: 'v1.8.4' } as typeof ahead.operator }
  expect(back('v1.6.0', pools, newer)?.remedy).toEqual([
    'Keep v1.7.4: KubeVirt goes forward only',
    'kvup upgrade --to v1.8.4     goes forward instead, to a newer release',
    forgets,
  ])
})

const idle = (version: string) =>
  at({ verdict: 'Healthy', observed: { version }, target: { version }, operator: undefined })

test('a release to go to that lacks what is stored is no way back, and nothing is continued where nothing was begun', () => {
  const pools = [crd('virtualmachinepools', 'pool.kubevirt.io', ['v1beta1'], ['v1beta1'])]
  const near = back('v1.6.6', pools, idle('v1.6.0'))
  expect(near?.summary).toMatch(/^v1\.6\.6 cannot be installed: /u)
  expect(near?.remedy).toEqual(['kvup upgrade --to v1.7.4     has v1beta1', forgets])
  // Each step on the way to it would be refused for the same reason.
  expect(back('v1.5.0', pools, idle('v1.4.0'))?.remedy).toEqual([forgets])
})

test('a tag that was set back by hand hangs: the operator that is there tells where forward is', () => {
  const operator = { version: 'v1.9.0', desired: 2, ready: 2, rolled: true, leads: true }
  const hung = at({
    verdict: 'Degraded',
    observed: { version: 'v1.8.4', id: 'a' },
    target: { version: 'v1.8.4', id: 'a' },
    operator: operator as unknown as NonNullable<RolloutStatus['operator']>,
  })
  expect(back('v1.8.4', [replaced], hung)?.remedy[0]).toBe(
    'kvup upgrade --to v1.9.0     continues the upgrade to its end',
  )
  expect(back('v1.8.4', [replaced], { ...hung, operator: undefined })?.remedy[0]).toBe(
    'kvup upgrade --to v1.9.0     continues the upgrade to its end',
  )
})
