import { expect, test } from 'vitest'
import { check } from '../../src/commands/check/check.ts'
import { PackageManifests } from '../../src/lib/kube/kinds/operator-kinds.ts'
import { ocpOlm, okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { ocp418to420, okd419 } from '../../src/simulator/openshift/openshift-shape.ts'
import { okdWithPatch } from './okd-with-patch.ts'
import { play } from './stage.ts'

const small = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1 }
const okd = { ...small, olm: okdOlm() }
const csv = (version: string) => `kubevirt-hyperconverged-operator.v${version}`
const byFile = [
  `kubectl -n openshift-marketplace get catalogsource community-operators -o jsonpath='{.spec.image}'     names the image of the catalog`,
  'save the catalog with opm render -o yaml, and pass it with --catalog-file: it has the upgrade paths',
]

test('without a target: where it is, what the catalog shows, and how to know more', () =>
  play(okd, async (stage) => {
    const ended = await stage.upgrade(undefined)
    expect(ended).toMatchObject({ code: 2, error: { reason: 'no-target' } })
    expect(ended.error?.message).toBe('--to is missing; 1.19.0 is recommended')
    expect(ended.error?.remedy).toEqual([
      'kvup upgrade --to 1.18.1 --method olm',
      'kvup upgrade --to 1.19.0 --method olm',
      ...byFile,
    ])
  }))

test('what OLM offers already is among them', () =>
  play({ ...small, olm: okdWithPatch() }, async (stage) => {
    await stage.until(60_000)
    const { error } = await stage.upgrade(undefined)
    expect(error?.remedy[0]).toBe('kvup upgrade --to 1.17.4 --method olm')
    const { text } = await stage.perform((cx) => check(cx, { accept: [], method: 'auto' }))
    expect(text).toMatch(/InstallPlan install-\w+ waits for your approval, for 1\.17\.4/u)
    expect(text).toContain('-> kvup upgrade --to 1.17.4 --method olm')
  }))

test('nothing that belongs to a later minor than the platform, which would be refused', () =>
  play({ ...small, openshift: ocp418to420, olm: ocpOlm({ installed: '4.18.9' }) }, async (stage) => {
    const { error } = await stage.upgrade(undefined)
    expect(error?.remedy.filter((line) => line.includes('--to'))).toEqual([
      'kvup upgrade --to 4.18.13 --method olm',
    ])
    const [line = ''] = error?.remedy ?? []
    const [to] = /\d+\.\d+\.\d+/u.exec(line) ?? []
    expect(await stage.upgrade(to, { stableFor: '5s', dryRun: 'client' })).toMatchObject({ code: 0 })
  }))

test('an operator of OpenShift behind its platform: no number of HyperConverged is offered, and what lists its own is', () => {
  const hop = ocp418to420.graph.find(({ version }) => version.startsWith('4.19.'))
  const openshift = { ...ocp418to420, version: hop?.version ?? '' }
  return play({ ...small, openshift, olm: ocpOlm({ installed: '4.18.9' }) }, async (stage) => {
    const { text } = await stage.perform((cx) => check(cx, { accept: [], method: 'auto' }))
    expect(text).toContain('HyperConverged 4.18.9 belongs to 4.18, the platform is at 4.19')
    expect(text).toContain('-> kvup upgrade      lists the operators that the catalog offers')
    expect(text).not.toMatch(/--to 1\./u)
    const { error } = await stage.upgrade(undefined)
    expect(error?.remedy[0]).toMatch(/^kvup upgrade --to 4\.1[89]\.\d+ --method olm/u)
    expect(error?.remedy.join('\n')).not.toMatch(/^kvup upgrade(?: {2}|$)/mu)
  })
})

const okdAt = (version: string, installed: string) => ({
  ...small,
  openshift: {
    ...okd419,
    version,
    graph: [
      { version, image: 'quay.io/okd/scos-release@sha256:1', kubernetes: '1.35.2', channels: [], to: [] },
    ],
  },
  olm: okdOlm({ installed, channel: `stable-v${installed.replace(/\.\d+$/u, '')}` }),
})

test('night E8: nor a minor that no row knows, where the platform has one of its own; asked for it is refused', () =>
  play(okdAt('4.22.0-okd-scos.3', '1.18.1'), async (stage) => {
    const { error } = await stage.upgrade(undefined)
    expect(error?.message).toContain('the catalog has nothing later that belongs to platform 4.22')
    const asked = await stage.upgrade('1.19.0', { method: 'olm', dryRun: 'client' })
    expect(asked).toMatchObject({ code: 3, error: { reason: 'operator-before-platform' } })
    expect(asked.text).toContain('is newer than 1.18, which belongs to platform 4.22')
  }))

test('night E8: where nothing tells, it is offered and said', () =>
  play(okdAt('4.23.0-okd-scos.1', '1.18.1'), async (stage) => {
    const { error } = await stage.upgrade(undefined)
    expect(error?.remedy[0]).toMatch(
      /^kvup upgrade --to 1\.19\.0 --method olm {5}its platform minor is unknown$/u,
    )
    const planned = await stage.upgrade('1.19.0', { method: 'olm', stableFor: '5s', dryRun: 'client' })
    expect(planned.code).toBe(0)
    expect(planned.text).toContain('whether HyperConverged 1.19.0 belongs to platform 4.23 or to a later one')
  }))

test('a catalog of which nothing is seen: no release is made up, and how to know is said', () =>
  play({ ...okd, faults: { catalogNotReady: true } }, async (stage) => {
    const { store } = stage.simulated
    for (const { metadata } of store.list(PackageManifests).items) store.remove(PackageManifests, metadata)
    const { error } = await stage.upgrade(undefined)
    expect(error?.message).toContain('kvup cannot read the catalog')
    expect(error?.remedy).toEqual(byFile)
  }))

test('with --catalog-file: what its edges lead to, and no entry beside them', () =>
  play(okd, async (stage) => {
    const entries = [
      { name: csv('1.18.0') },
      { name: csv('1.18.1'), replaces: csv('1.17.3'), skips: [csv('1.18.0')] },
      { name: csv('1.18.2'), replaces: csv('1.18.1') },
    ]
    const channel = {
      schema: 'olm.channel',
      package: 'community-kubevirt-hyperconverged',
      name: 'stable-v1.18',
      entries,
    }
    stage.files.set('my catalog.json', JSON.stringify(channel))
    const { error } = await stage.upgrade(undefined, { catalogFile: 'my catalog.json' })
    expect(error?.remedy).toEqual([
      "kvup upgrade --to 1.18.1 --method olm --catalog-file 'my catalog.json'",
      "kvup upgrade --to 1.18.2 --method olm --catalog-file 'my catalog.json'",
    ])
    stage.files.set('other.json', JSON.stringify({ ...channel, package: 'other' }))
    const other = await stage.upgrade(undefined, { catalogFile: 'other.json' })
    expect(other.text).toContain(
      'the catalog file has no package community-kubevirt-hyperconverged, only other',
    )
  }))

test('where it cannot be told, what helps against that is said, and no version that nobody asked for', () =>
  play({ ...small, olm: okdOlm() }, async (stage) => {
    const cluster = stage.simulated.cluster({ user: 'nobody' })
    const { error, code } = await stage.upgrade(undefined, {}, { cluster })
    expect(code).toBe(2)
    expect(error?.message).toContain('kvup could not read which ones are available')
    expect(error?.remedy.join()).not.toMatch(/--to v?\d/u)
  }))
