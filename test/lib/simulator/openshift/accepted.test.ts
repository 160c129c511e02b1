import { describe, expect, it, test } from 'vitest'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { ClusterVersions, type DesiredUpdate } from '../../../../src/lib/kube/kinds/openshift-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { ocp418to420 } from '../../../../src/simulator/openshift/openshift-shape.ts'
import { minute, platform, type Platform } from './platform.ts'

const gate = 'ack-4.18-boot-image-opt-out-in-4.19'
const acks = { name: 'admin-acks', namespace: 'openshift-config' }
const acknowledge = ({ writer }: Platform) =>
  writer.mergePatch(ConfigMaps, acks, { data: { [gate]: 'true' } })
const imageOf = (version: string) => ocp418to420.graph.find((r) => r.version === version)?.image ?? ''
const accepted = async (p: Platform) => condition(await p.version(), 'ReleaseAccepted')

describe('an admin gate that is open (ocp 3.3)', () => {
  const gated = { channel: 'eus-4.20', adminGates: { [gate]: 'read this first' } }

  it('trap 16: the patch succeeds and is refused in the status, everything else as it was; it starts by itself once the gate is closed', async () => {
    const p = await platform(gated)
    const before = (await p.version()).status
    await p.desire({ version: '4.19.14', image: imageOf('4.19.14') })
    await p.clock.sleep(minute)
    const { spec, status } = await p.version()
    expect(condition({ status }, 'ReleaseAccepted')).toMatchObject({
      status: 'False',
      reason: 'PreconditionChecks',
    })
    expect((await accepted(p))?.message).toContain('because of "AdminAckRequired": read this first')
    expect(spec?.desiredUpdate?.version).toBe('4.19.14')
    expect([status.desired, status.history]).toEqual([before.desired, before.history])
    expect(condition({ status }, 'Progressing')).toEqual(condition({ status: before }, 'Progressing'))
    expect(condition({ status }, 'Upgradeable')).toMatchObject({
      status: 'False',
      reason: 'AdminAckRequired',
    })
    await p.clock.sleep(3 * 60 * minute)
    expect((await p.version()).status.desired?.version).toBe('4.18.21')
    await acknowledge(p)
    await p.clock.sleep(minute)
    expect((await p.version()).status.history?.[0]).toMatchObject({ state: 'Partial', version: '4.19.14' })
    expect(await accepted(p)).toMatchObject({ status: 'True', reason: 'PayloadLoaded' })
  })

  it('what was taken back before does not start', async () => {
    const p = await platform(gated)
    await p.desire({ version: '4.19.14' })
    await p.clock.sleep(minute)
    await p.desire(null)
    await p.clock.sleep(minute)
    expect((await accepted(p))?.status).toBe('True')
    await acknowledge(p)
    await p.clock.sleep(10 * minute)
    expect((await p.version()).status.desired?.version).toBe('4.18.21')
  })

  it('is in the way of a minor, not of a patch', async () => {
    const p = await platform(gated)
    await p.desire({ version: '4.18.24' })
    await p.clock.sleep(minute)
    expect((await p.version()).status.desired?.version).toBe('4.18.24')
  })

  it('force goes past it', async () => {
    const p = await platform(gated)
    await p.desire({ version: '4.19.14', force: true })
    await p.clock.sleep(minute)
    expect((await p.version()).status.desired?.version).toBe('4.19.14')
  })

  test.each<readonly [string, Record<string, string>, string]>([
    ['empty', { [gate]: '' }, 'AdminAckConfigMapGateValueError'],
    ['malformed', { 'ack-4.18': 'read this' }, 'AdminAckConfigMapGateNameError'],
    ['of another minor', { 'ack-4.19-x': 'read this' }, 'none'],
  ])('%s: %o', async (_name, adminGates, reason) => {
    const p = await platform({ adminGates })
    await acknowledge(p)
    await p.clock.sleep(minute)
    expect(condition(await p.version(), 'Upgradeable')?.reason ?? 'none').toBe(reason)
  })
})

describe('what else is refused (ocp 3.2)', () => {
  const refused: readonly (readonly [string, DesiredUpdate, string, string])[] = [
    [
      'two minors at once',
      { version: '4.20.3', image: imageOf('4.20.3') },
      'PreconditionChecks',
      'MultipleMinorVersionsUpdate',
    ],
    [
      'an image of another version',
      { version: '4.19.10', image: imageOf('4.19.14') },
      'VerifyPayloadVersion',
      'does not match the expected upstream version 4.19.10',
    ],
    [
      'an image that nobody knows',
      { version: '4.19.10', image: 'quay.io/x@sha256:00' },
      'RetrievePayload',
      'cannot be verified',
    ],
  ]
  test.each(refused)('%s', async (_name, update, reason, words) => {
    const p = await platform({ channel: 'eus-4.20' })
    await p.desire(update)
    await p.clock.sleep(minute)
    const said = await accepted(p)
    expect(said).toMatchObject({ status: 'False', reason })
    expect(said?.message).toContain(words)
    expect((await p.version()).status.desired?.version).toBe('4.18.21')
  })

  it('not: back to the release before, within its minor', async () => {
    const p = await platform()
    await p.desire({ version: '4.18.18' })
    await p.clock.sleep(minute)
    expect((await p.version()).status.desired?.version).toBe('4.18.18')
  })

  it('back by more than the last step', async () => {
    const p = await platform({ version: '4.19.14', channel: 'eus-4.20' })
    await p.desire({ version: '4.18.24', image: imageOf('4.18.24') })
    await p.clock.sleep(minute)
    expect((await accepted(p))?.message).toContain('LowDesiredVersion')
  })

  it('a version alone that the cluster was not offered: the ClusterVersion is invalid', async () => {
    const p = await platform()
    await p.desire({ version: '4.19.99' })
    await p.clock.sleep(minute)
    expect(condition(await p.version(), 'Invalid')).toMatchObject({
      status: 'True',
      reason: 'InvalidClusterVersion',
    })
    await p.desire(null)
    await p.clock.sleep(minute)
    expect(condition(await p.version(), 'Invalid')).toBeUndefined()
  })
})

it('while it is fetched, ReleaseAccepted is Unknown', async () => {
  const p = await platform({ channel: 'eus-4.20' })
  await p.desire({ version: '4.19.14' })
  await p.clock.sleep(5000)
  expect(await accepted(p)).toMatchObject({ status: 'Unknown', reason: 'RetrievePayload' })
})

it('ocp 3.2: several causes are one MultipleReasons, and a condition each', async () => {
  const p = await platform({ adminGates: { [gate]: 'read this first' } })
  const reason = 'IncompatibleOperatorsInstalled'
  p.faults.set({ notUpgradeable: [{ operator: 'operator-lifecycle-manager', reason, message: 'too old' }] })
  await p.clock.sleep(2 * minute)
  const version = await p.version()
  expect(condition(version, 'Upgradeable')).toMatchObject({ status: 'False', reason: 'MultipleReasons' })
  expect(condition(version, 'UpgradeableClusterOperators')).toMatchObject({ reason })
  expect(condition(version, 'UpgradeableAdminAckRequired')).toMatchObject({ reason: 'AdminAckRequired' })
  p.faults.set({ notUpgradeable: undefined })
  await p.clock.sleep(2 * minute)
  const after = (await p.version()).status.conditions ?? []
  expect(after.filter(({ type }) => type.startsWith('Upgradeable'))).toMatchObject([
    { type: 'Upgradeable', reason: 'AdminAckRequired' },
  ])
})

const versions = async (p: Platform) =>
  (await p.version()).status.availableUpdates?.map(({ version }) => version)

describe('which updates there are (ocp 3.1, 3.7)', () => {
  it('none are known while they are fetched for another channel', async () => {
    const p = await platform()
    expect(await versions(p)).toEqual(['4.18.24'])
    await p.channel('stable-4.19')
    await p.clock.sleep(5000)
    expect((await p.version()).status.availableUpdates).toBeNull()
    await p.clock.sleep(minute)
    expect(await versions(p)).toEqual(['4.19.17', '4.19.14', '4.19.10', '4.19.9', '4.18.24'])
  })

  it('ocp 9.15: the newest odd release has no edge into the target minor', async () => {
    const newest = await platform({ version: '4.19.17', channel: 'eus-4.20' })
    expect(await versions(newest)).toEqual([])
    const older = await platform({ version: '4.19.14', channel: 'eus-4.20' })
    expect(await versions(older)).toEqual(['4.20.5', '4.20.3', '4.19.17'])
  })

  it('an edge with a risk is none of them, and named apart', async () => {
    const p = await platform({ version: '4.18.24', channel: 'stable-4.19' })
    expect(await versions(p)).toEqual(['4.19.17'])
    expect((await p.version()).status.conditionalUpdates).toMatchObject([
      { release: { version: '4.19.14' }, conditions: [{ type: 'Recommended', status: 'False' }] },
    ])
  })

  test.each([
    ['a channel without this release', { channel: 'stable-4.21' }, {}, 'VersionNotFound'],
    ['no channel', { channel: '' }, {}, 'NoChannel'],
    ['a service that does not answer', {}, { updatesNotRetrieved: true }, 'RemoteFailed'],
  ])('null, and why: %s', async (_name, shape, faults, reason) => {
    const p = await platform(shape, { faults })
    expect((await p.version()).status.availableUpdates).toBeNull()
    expect(condition(await p.version(), 'RetrievedUpdates')).toMatchObject({ status: 'False', reason })
  })
})

it('overrides are in the way of any update', async () => {
  const p = await platform()
  const overrides = [{ kind: 'Deployment', name: 'x', namespace: 'y', unmanaged: true }]
  await p.writer.mergePatch(ClusterVersions, { name: 'version' }, { spec: { overrides } })
  await p.desire({ version: '4.18.24' })
  await p.clock.sleep(minute)
  expect((await accepted(p))?.message).toContain('ClusterVersionOverridesSet')
})
