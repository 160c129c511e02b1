import { describe, expect, test } from 'vitest'
import {
  hopSupported,
  knownBad,
  kubernetesSupported,
  zeroDowntime,
} from '../../../src/lib/checks/groups/path-checks.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { emptyTally } from '../../../src/lib/kubevirt/snapshot.ts'
import { ask, evidence, known, ofVersion, said, withSpec } from './evidence.ts'

const running = (gitVersion: string, version = 'v1.8.4') => {
  const [major = '', minor = ''] = gitVersion.replace('v', '').split('.')
  return ofVersion(version, evidence({ serverVersion: { gitVersion, major, minor } }))
}

test.each([
  ['v1.9.0', 'v1.8.4', []],
  ['v1.9.0', 'v1.8.2', ['warning patch-skipped']],
  ['v1.7.4', 'v1.8.4', ['blocker downgrade']],
  ['v1.9.0', 'v1.7.4', ['info minor-skipped']],
  ['v1.11.0', 'v1.8.4', ['blocker minor-skipped', 'warning release-unknown']],
  ['v1.9.0-rc.1', 'v1.8.4', ['warning pre-release', 'info release-unknown']],
  ['v1.9.7', 'v1.8.4', ['info release-unknown']],
  ['v0.17.0', 'v0.16.3', ['blocker from-unsupported', 'info release-unknown']],
])('hop-supported: to %s from %s', (target, version, findings) => {
  const result = ask(hopSupported, { snapshot: ofVersion(version), target })
  expect(said(result.findings)).toEqual(findings)
})

test('hop-supported goes by the release data that are given', () => {
  const minors = {
    ...knownReleases.minors,
    'v1.8': { releases: { 'v1.8.4': '2026-06-15', 'v1.8.9': '2026-11-01' } },
  }
  const releases = { ...knownReleases, asOf: '2026-11-02', minors }
  const { findings } = ask(hopSupported, { target: 'v1.9.0', releases })
  expect(findings).toMatchObject([{ id: 'patch-skipped', remedy: ['kvup upgrade --to v1.8.9'] }])
})

test('hop-supported: minors that are left out are gone through, Kubernetes with them', () => {
  const [finding] = ask(hopSupported, { snapshot: running('v1.33.2', 'v1.7.4'), target: 'v1.9.0' }).findings
  expect(finding?.remedy).toEqual([
    'kvup upgrade --to v1.8.4',
    'upgrade Kubernetes to 1.34 (v1.9.0 needs 1.34 or newer, and v1.8.4 runs on it)',
    'kvup upgrade --to v1.9.0',
  ])
  const [none] = ask(hopSupported, { snapshot: running('v1.35.0', 'v1.5.3'), target: 'v1.9.0' }).findings
  expect(none?.remedy[0]).toContain('v1.6.6 supports Kubernetes up to 1.33, this cluster runs 1.35')
})

test('hop-supported needs a target, and says when nothing was ever settled', () => {
  expect(ask(hopSupported).is).toBe('skipped')
  const never = ofVersion('devel')
  expect(said(ask(hopSupported, { snapshot: never, target: 'v1.9.0' }).findings)).toEqual([
    'warning never-healthy',
  ])
})

describe('kubernetes-window', () => {
  test.each([
    ['v1.35.4', undefined, []],
    ['v1.35.4', 'v1.9.0', []],
    ['v1.33.1', undefined, []],
    ['v1.33.1', 'v1.9.0', ['blocker']],
    ['v1.32.0', 'v1.9.0', ['warning', 'blocker']],
    ['v1.36.0', 'v1.9.0', ['warning']],
    ['v1.37.0', 'v1.9.0', ['warning', 'warning']],
    ['v1.34.9+k3s1', 'v1.9.0', []],
  ])('on %s, to %s', (runs, target, levels) => {
    const asked = { snapshot: running(runs), ...(target !== undefined && { target }) }
    expect(ask(kubernetesSupported, asked).findings.map(({ level }) => level)).toEqual(levels)
  })

  test('names the window and the steps in their order', () => {
    const [finding] = ask(kubernetesSupported, { snapshot: running('v1.33.1'), target: 'v1.9.0' }).findings
    expect(finding?.summary).toBe('Kubernetes 1.33 is too old for KubeVirt v1.9 (1.34 to 1.36)')
    expect(finding?.remedy).toEqual([
      'upgrade Kubernetes to 1.34 (v1.9.0 needs 1.34 or newer, and v1.8.4 runs on it)',
      'kvup upgrade --to v1.9.0',
    ])
  })

  test('a minor that is not in the table is judged by rule, and that is said', () => {
    const [finding] = ask(kubernetesSupported, {
      snapshot: running('v1.34.1', 'v1.9.0'),
      target: 'v1.10.0',
    }).findings
    expect(finding?.summary).toContain('1.35 to 1.37, estimated')
  })

  test('without the version of the server it was not checked, and that blocks', () => {
    const { serverVersion: _, ...unknown } = evidence()
    expect(said(ask(kubernetesSupported, { snapshot: unknown }).findings)).toEqual([
      'not-checked kubernetes-window',
    ])
  })
})

test.each([
  ['v1.6.6', 'v1.7.4', ['info issue-16264', 'info issue-18670']],
  ['v1.5.3', 'v1.6.0', ['warning pr-15007', 'blocker issue-15373']],
  ['v1.5.3', 'v1.6.6', []],
  ['v1.9.0', 'v1.9.1', []],
  ['v1.8.4', 'v1.9.0', ['info issue-18670']],
  // Nobody has two vCPUs there, or a q35 machine: whom it does not concern is not told.
  ['v1.7.4', 'v1.8.4', ['info issue-18670']],
  ['v1.4.1', 'v1.5.0', ['warning issue-14318', 'warning pr-15007']],
  ['v1.4.1', 'v1.5.3', []],
  // Within a minor the old virt-controller says what the new virt-handler asks for.
  ['v1.5.0', 'v1.5.2', []],
  ['v1.7.4', 'v1.8.2', ['info issue-16561', 'info issue-18670']],
])('known-bad: from %s to %s', (version, target, findings) => {
  expect(said(ask(knownBad, { snapshot: ofVersion(version), target }).findings)).toEqual(findings)
})

test.each([
  ['v0.16.9', ['blocker zero-downtime-since']],
  ['v0.17.0', []],
  ['v1.8.4', []],
])(
  'C8 KubeVirt promises updates without downtime only from v0.17.0 is promised zero downtime: %s',
  (version, findings) => {
    expect(said(ask(zeroDowntime, { snapshot: ofVersion(version) }).findings)).toEqual(findings)
  },
)

const counted = [
  {
    trait: 'smp',
    version: 'v1.7.4',
    target: 'v1.8.4',
    id: 'issue-16386',
    command:
      'kvup workloads update --canary 1 --until canary     moves one VM first, after an upgrade with --leave-paused',
  },
  {
    trait: 'q35',
    version: 'v1.5.3',
    target: 'v1.6.3',
    id: 'issue-17029',
    command: 'kvup upgrade --to v1.6.6',
  },
  {
    trait: 'q35',
    version: 'v1.6.6',
    target: 'v1.7.1',
    id: 'issue-17029',
    command: 'kvup upgrade --to v1.7.4',
  },
  {
    trait: 'istio',
    version: 'v1.5.3',
    target: 'v1.6.1',
    id: 'pr-15661',
    command: 'kvup upgrade --to v1.6.6',
  },
  {
    trait: 'hotplugged',
    version: 'v1.4.1',
    target: 'v1.5.3',
    id: 'issue-12637',
    command: 'virtctl migrate VM     moves such a VM off its node before the drain',
  },
  {
    trait: 'hotplugged',
    version: 'v1.3.1',
    target: 'v1.4.0',
    id: 'pr-13614',
    command: 'kvup upgrade --to v1.4.1',
  },
]

test.each(counted)('known-bad: VMs that are $trait are counted, from $version to $target', (row) => {
  const vms = { count: 2, names: ['demo/a', 'demo/b'] }
  const tally = { ...emptyTally(), running: 2, traits: { [row.trait]: vms } }
  const snapshot = { ...ofVersion(row.version), instances: known(tally) }
  const found = ask(knownBad, { snapshot, target: row.target }).findings.find(({ id }) => id === row.id)
  expect(found).toMatchObject({ level: 'warning', objects: vms.names })
  expect(found?.summary).toContain('it affects 2 running VMs here (demo/a, demo/b)')
  expect(found?.remedy[0]).toBe(row.command)
})

test.each([
  [399, false],
  [400, true],
])('known-bad: %i running VMs are many: %s', (count, many) => {
  const snapshot = { ...ofVersion('v1.4.1'), instances: known({ ...emptyTally(), running: count }) }
  const ids = ask(knownBad, { snapshot, target: 'v1.5.0' }).findings.map(({ id }) => id)
  expect(ids.includes('issue-14495')).toBe(many)
})

test.each([
  ['v1.35.4', 'v1.8.3', undefined],
  ['v1.36.0', 'v1.8.3', 'kvup upgrade --to v1.8.4'],
  ['v1.36.0', 'v1.8.4', undefined],
])('known-bad: on Kubernetes %s to %s the checksum of container disks', (gitVersion, target, command) => {
  const vms = { count: 1, names: ['demo/a'] }
  const instances = known({ ...emptyTally(), running: 1, traits: { 'container-disk': vms } })
  const serverVersion = { gitVersion, major: '1', minor: gitVersion.slice(3, 5) }
  const snapshot = { ...ofVersion('v1.7.4'), instances, serverVersion }
  const found = ask(knownBad, { snapshot, target }).findings.find(({ id }) => id === 'issue-17858')
  expect(found?.remedy[0]).toBe(command)
})

test.each([
  [undefined, false],
  [false, false],
  [true, true],
])('known-bad: post-copy migrations out of v1.4, where allowPostCopy is %s', (allowPostCopy, isTold) => {
  const migrations = { ...(allowPostCopy !== undefined && { allowPostCopy }) }
  const snapshot = ofVersion('v1.4.1', withSpec({ configuration: { migrations } }))
  const ids = ask(knownBad, { snapshot, target: 'v1.5.2' }).findings.map(({ id }) => id)
  expect(ids.includes('pr-15015')).toBe(isTold)
})

test('known-bad: VMs that may not be read are said to be unknown', () => {
  const snapshot = { ...ofVersion('v1.7.4'), instances: { known: false as const, why: 'forbidden' } }
  const [first] = ask(knownBad, { snapshot, target: 'v1.8.4' }).findings
  expect(first?.summary).toContain('kvup does not know which VMs it affects: forbidden')
})
