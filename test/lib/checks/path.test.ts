import { describe, expect, test } from 'vitest'
import {
  hopSupported,
  knownBad,
  kubernetesSupported,
  zeroDowntime,
} from '../../../src/lib/checks/groups/path-checks.ts'
import { knownReleases } from '../../../src/lib/releases/releases.ts'
import { itemsOf } from '../../../src/lib/kube/known.ts'
import { emptyTally } from '../../../src/lib/kubevirt/snapshot.ts'
import { ask, evidence, known, ofVersion, said, withSpec } from './evidence.ts'
import fixture from './path.json' with { type: 'json' }

const running = (gitVersion: string, version = 'v1.8.4') => {
  const [major = '', minor = ''] = gitVersion.replace('v', '').split('.')
  return ofVersion(version, evidence({ serverVersion: { gitVersion, major, minor } }))
}

test.each<[string, object, string[]]>(fixture.proofs as never)(
  'hop-supported: %s proves a patch and a minor that the data do not know',
  (_, proof, levels) => {
    const found = ['v1.9.7', 'v1.10.0'].map((target) => {
      const { findings } = ask(hopSupported, { snapshot: ofVersion('v1.9.0'), target, ...proof })
      return findings.find(({ id }) => id === 'release-unknown')
    })
    expect(found.map((one) => one?.level)).toEqual(levels)
    const leading = found.flatMap((one) => (one?.level === 'not-checked' ? one.remedy : []))
    expect(leading.filter((line) => /v1\.9\.7|v1\.10\.0/u.test(line))).toEqual([])
  },
)

test.each(['v1.9.7', 'v1.10.0'])('hop-supported: the images of %s that run here prove it', (target) => {
  const [kubevirt] = itemsOf(evidence().kubevirts)
  const snapshot = ofVersion('v1.9.0')
  const status = { ...itemsOf(snapshot.kubevirts)[0]?.status, operatorVersion: target }
  const proven = { ...snapshot, kubevirts: known({ ...kubevirt!, status }) }
  expect(ask(hopSupported, { snapshot: proven, target }).findings[0]?.level).not.toBe('not-checked')
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
  test.each<[string, string | null, string[]]>(fixture.kubernetes as never)(
    'on %s, to %s',
    (runs, target, levels) => {
      const asked = { snapshot: running(runs), ...(target !== null && { target }) }
      expect(ask(kubernetesSupported, asked).findings.map(({ level }) => level)).toEqual(levels)
    },
  )

  test('a minor that is not in the table is judged by rule, and that is said', () => {
    const [finding] = ask(kubernetesSupported, {
      snapshot: running('v1.34.1', 'v1.9.0'),
      target: 'v1.10.0',
    }).findings
    expect(finding?.summary).toContain('1.35 to 1.37, estimated')
  })
})

test.each<[string, string, string[], string?]>(fixture.knownBad as never)(
  'known-bad: from %s to %s',
  (version, target, findings) => {
    expect(said(ask(knownBad, { snapshot: ofVersion(version), target }).findings)).toEqual(findings)
  },
)

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

const counted = fixture.counted

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

const image = (tag: string) => (tag.startsWith('v') ? `quay.io/kubevirt/virt-launcher:${tag}` : tag)

describe('known-bad: migrations that fail go by the launcher that a VM runs on, and by the target', () => {
  const named = { count: 1, names: ['demo/a'] }
  interface Told {
    on: string
    kernel?: string
    spec?: object
    methodsAtEnd?: readonly string[]
  }

  const told = (installed: string, target: string, { on, kernel, spec = {}, methodsAtEnd }: Told) => {
    const found = evidence({
      instances: known({
        ...emptyTally(),
        running: 1,
        launchers: { [image(on)]: 1 },
        traitsOn: { [on === '' ? '' : image(on)]: { smp: named, 'virtio-net': named } },
      }),
    })
    for (const { status } of itemsOf(found.nodes))
      if (kernel !== undefined && status?.nodeInfo) status.nodeInfo.kernelVersion = kernel
    const { findings } = ask(knownBad, {
      snapshot: withSpec(spec, ofVersion(installed, found)),
      target,
      ...(methodsAtEnd && { methodsAtEnd }),
    })
    return findings.filter(({ id }) => /16386|11615/u.test(id))
  }

  const releases = ['v1.4.1', 'v1.5.3', 'v1.6.6', 'v1.7.4', 'v1.8.4', 'v1.9.0']
  const pairs = releases.flatMap((on, from) =>
    releases
      .slice(from)
      .flatMap((installed, at) =>
        releases.slice(from + at).map((target): [string, string, string] => [on, installed, target]),
      ),
  )
  test.each(pairs)('a launcher of %s, installed %s, to %s', (on, installed, target) => {
    const crosses = (minor: string) => on < minor && target >= minor
    expect(said(told(installed, target, { on }))).toEqual([
      ...(crosses('v1.7') ? ['warning issue-16386'] : []),
      ...(crosses('v1.8') ? ['warning harvester-11615'] : []),
    ])
  })

  test.each<[string, string, string, Parameters<typeof told>[2], string[]]>(fixture.launchers as never)(
    '%s',
    (...[, installed, target, asked, findings]) => {
      expect(said(told(installed, target, asked))).toEqual(findings)
    },
  )

  test('each names its own source, and launcher-age sends nobody there', () => {
    const found = told('v1.6.6', 'v1.8.4', { on: 'v1.6.6' })
    expect(found.map(({ remedy }) => remedy.at(-1))).toEqual([
      'read https://github.com/kubevirt/kubevirt/issues/16386',
      'read https://github.com/harvester/harvester/issues/11615',
    ])
    expect(found.map(({ objects }) => objects)).toEqual([['demo/a'], ['demo/a']])
  })
})

test('known-bad: VMs that may not be read are said to be unknown', () => {
  const snapshot = { ...ofVersion('v1.7.4'), instances: { known: false as const, why: 'forbidden' } }
  const [first] = ask(knownBad, { snapshot, target: 'v1.8.4' }).findings
  expect(first?.summary).toContain('kvup does not know which VMs it affects: forbidden')
  const { instances: _, ...newer } = ofVersion('v1.8.4')
  const [none] = ask(knownBad, { snapshot: { ...snapshot, ...newer }, target: 'v1.9.0' }).findings
  expect(none?.id).toBe('issue-18670')
})
