import reasons from '../../src/commands/explain/reasons.json' with { type: 'json' }
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allChecks } from '../../src/lib/checks/check-run.ts'
import { KubeVirts } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { CustomResourceDefinitions } from '../../src/lib/kube/kinds/extension-kinds.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, version: 'v1.8.4', methods: ['LiveMigrate'], vms: 3 })
})
afterAll(() => sim.stop())

const releases = readFileSync('src/lib/releases/releases.json', 'utf8')
const nowhere = {} as Cluster
const kvup = (
  line: string,
  more: { stdin?: string; files?: Record<string, string>; cluster?: Cluster; columns?: number } = {},
) => runText(line.split(' '), { cluster: sim.cluster(), clock, ...more })

interface Report {
  outcome: string
  status: string
  items: {
    id: string
    is: string
    findings: { id: string; level: string; summary: string; accepted?: true }[]
  }[]
}
const read = ({ out }: { out: string }) => JSON.parse(out) as Report
const found = (report: Report) => report.items.flatMap(({ findings }) => findings)

describe('kvup check', () => {
  test('a healthy cluster passes, by itself and for the next minor; nothing is written', async () => {
    const before = sim.store.audit.length
    const [now, then] = [await kvup('check -o json'), await kvup('check --to v1.9.0 -o json')]
    expect([now.code, then.code]).toEqual([0, 0])
    expect([read(now).outcome, read(then).outcome, read(then).status]).toEqual([
      'passed',
      'passed',
      'complete',
    ])
    expect(read(now).items.some(({ is }) => is === 'skipped')).toBe(true)
    const skipped = read(then).items.filter(({ is }) => is === 'skipped')
    expect(skipped).toMatchObject([{ id: 'images-pullable', without: '--probe-images' }])
    const ours = sim.store.audit.slice(before).filter(({ user }) => user === 'kubernetes-admin')
    expect(ours.length).toBeGreaterThan(10)
    expect(ours.filter(isWrite)).toEqual([])
  })

  test('a blocker is exit 3 until it is accepted by name; others are checked all the same', async () => {
    const blocked = await kvup('check --to v1.7.4 -o json')
    expect([blocked.code, read(blocked).outcome]).toEqual([3, 'blocked'])
    expect(
      found(read(blocked))
        .filter(({ level }) => level === 'blocker')
        .map(({ id }) => id),
    ).toEqual(['downgrade', 'kubernetes-window', 'operator-goes-back'])
    const whole = await kvup('check --to v1.9.0 -o json')
    expect(read(blocked).items.map(({ id }) => id)).toEqual(read(whole).items.map(({ id }) => id))
    const accepted = await kvup(
      'check --to v1.7.4 --accept downgrade=lab --accept operator-goes-back --accept kubernetes-window',
    )
    expect(accepted.code).toBe(0)
    expect(accepted.out).toMatch(/^ACCEPTED\n - lab: v1\.7\.4 is older/mu)
  })

  test('--strict lets warnings count', async () => {
    const line = 'check --to v1.9.0'
    expect([(await kvup(line)).code, (await kvup(`${line} --strict`)).code]).toEqual([0, 3])
    const accepted = await kvup(`${line} --strict --accept defaults-that-shift`)
    expect(accepted.code).toBe(0)
  })

  test('one scenario in every format: the same findings, the same exit code', async () => {
    const line = 'check --to v1.7.4'
    const ids = found(read(await kvup(`${line} -o json`))).map(({ id }) => id)
    for (const format of ['table', 'wide', 'yaml', 'ndjson', 'junit', 'markdown']) {
      const { code, out } = await kvup(`${line} -o ${format}`)
      expect(code).toBe(3)
      expect(ids.filter((id) => !out.includes(id))).toEqual([])
    }
  })

  test('what may not be read is not checked, and blocks where the check can', async () => {
    const cluster = sim.cluster()
    const reader = new Proxy(cluster.reader, {
      get(of, name) {
        const member: unknown = Reflect.get(of, name)
        if (typeof member !== 'function') return member
        return (...asked: unknown[]): unknown => {
          if (asked[0] === CustomResourceDefinitions)
            throw new ApiError(403, 'Forbidden', 'you may not list crds')
          return Reflect.apply(member, of, asked)
        }
      },
    })
    const ran = await kvup('check --to v1.9.0 -o json', { cluster: { ...cluster, reader } })
    expect([ran.code, read(ran).outcome, read(ran).status]).toEqual([3, 'blocked', 'partial'])
    const unseen = read(ran).items.filter(({ is }) => is === 'not-checked')
    expect(unseen.map(({ id, findings }) => `${id} ${findings[0]?.level}`)).toContain(
      'crd-stored-versions not-checked',
    )
    expect(unseen[0]?.findings[0]?.summary).toContain('you may not list crds')
  })

  test('who may read nothing gets exit 7', async () => {
    const stranger = sim.cluster({ user: 'jane', groups: [] })
    expect((await kvup('check --to v1.9.0 -o json', { cluster: stranger })).code).toBe(7)
  })

  test('the manifest brings the comparison of rights', async () => {
    const stdin = asYaml(sim.operatorManifest('v1.9.0'))
    const { code, out } = await kvup('check --to v1.9.0 --manifest - -o json', { stdin })
    expect([code, read({ out }).outcome]).toEqual([0, 'passed'])
    const other = await kvup('check --to v1.9.0 --manifest -', {
      stdin: asYaml(sim.operatorManifest('v1.8.4')),
    })
    expect(other.code).toBe(2)
    expect(other.err).toContain('is of v1.8.4')
  })

  test('a second KubeVirt is a finding, not the end of it', async () => {
    const namespace = 'default'
    const { apiVersion, kind } = KubeVirts
    const ref = { name: 'second', namespace }
    await sim.cluster().writer.create(KubeVirts, { apiVersion, kind, metadata: ref })
    const ran = await kvup('check -o json')
    await sim.cluster().writer.delete(KubeVirts, ref)
    expect(ran.code).toBe(3)
    expect(found(read(ran))).toContainEqual(
      expect.objectContaining({
        id: 'one-kubevirt',
        objects: ['kubevirt/default/second'],
        remedy: [expect.stringMatching(/^delete default\/second by hand/u)],
      }),
    )
  })

  test.each([
    ['check --to 1.9', 'is not a full version'],
    ['check --to v1.9.0 --accept downgrad', '--accept downgrade'],
    ['check --to v1.9.0 --accept issue-1867', '--accept issue-18670'],
    ['check --accept zzzzzzzz', 'kvup explain'],
    ['check --accept managed-by-olm', 'cannot be accepted'],
    ['check --manifest operator.yaml', 'add --to VERSION'],
    ['check --releases missing.json', 'cannot read the release file'],
    ['check --releases broken.json', 'minors.v1.8.releases'],
    ['check -o junti', 'junit, markdown'],
    ['status -o junit', 'is not an output format here'],
  ])('%s: exit 2, and a hint, before the cluster is asked', async (line, hint) => {
    const broken = releases.replace('"v1.8.4": "2026', '"v1.7.99": "2026')
    const ran = await kvup(line, { cluster: nowhere, files: { 'broken.json': broken } })
    expect(ran.code).toBe(2)
    expect(ran.err).toContain(hint)
    expect(ran.out).toBe('')
  })
})

const parts = ['What it means', 'Why it matters', 'How to fix', 'Accept with', 'Docs']
/** Of what there is nothing to accept of. */
const without = parts.filter((part) => part !== 'Accept with')
const headed = (out: string): readonly string[] =>
  [...out.matchAll(/(?<=\n\n)([A-Z][a-z ]+)$(?=\n)/gmu)].map(([, heading = '']) => heading)

describe('kvup explain', () => {
  test('prints five headed parts of one, offline', async () => {
    const { code, out } = await kvup('explain crd-stored-versions', { cluster: nowhere })
    expect(code).toBe(0)
    expect(out).toContain(
      'Check of installation: it passes when the CRDs store no version that the target lacks.',
    )
    expect(out).toContain('storedVersions')
    expect(headed(out)).toEqual(parts)
    expect(out).toContain('--accept crd-stored-versions=REASON')
  })

  test.each([
    [
      'OutdatedVirtualMachineInstanceWorkloads',
      'Alert of KubeVirt.',
      'monitoring/runbooks/Outdated',
      without,
    ],
    ['VMCannotBeEvicted', 'Alert of KubeVirt.', 'runbooks/VMCannotBeEvicted', without],
    ['CDINotReady', 'Alert of CDI.', 'runbooks/CDINotReady', without],
    ['LiveMigratable', 'Condition of a VMI.', 'kvup workloads outdated', without],
    ['Upgradeable', 'Condition of HyperConverged', 'platform-not-upgradeable', without],
    ['3', 'Exit code 3, blocked.', 'docs/exit-codes.md', without],
    ['exit-130', 'Exit code 130, interrupted.', 'Run the same command again', without],
    ['locked', 'Exit code 6, locked.', 'The lock of a run that died ends within 15 s', without],
    ['timed-out', 'Exit code 4, timed out.', '-> kvup status', without],
    ['managed-by-olm', 'Refused, and cannot be accepted.', 'This cannot be accepted.', parts],
    ['clock-skew', 'Warning.', 'Let NTP set the clock', without],
    ['issue-15373', 'Blocker.', '--accept issue-15373=REASON', parts],
  ])('%s: %s, under the name that was typed', async (name, is, says, headings) => {
    const { code, out } = await kvup(`explain ${name}`, { cluster: nowhere })
    expect(code).toBe(0)
    expect(out.split('\n')[0]).toBe(name)
    expect(out.split('\n')[1]).toContain(is)
    expect(out.replaceAll(/\s+/gu, ' ')).toContain(says)
    expect(headed(out)).toEqual(headings)
  })

  test('a name in other capitals: the page writes it as it is', async () => {
    const { out } = await kvup('explain vmcannotbeevicted', { cluster: nowhere })
    expect(out.split('\n')[0]).toBe('VMCannotBeEvicted')
  })

  test('several names: the page of each, in that order', async () => {
    const { code, out } = await kvup('explain locked upgrade LiveMigratable', { cluster: nowhere })
    expect(code).toBe(0)
    expect(
      out
        .split('\n\n')
        .flatMap((part) =>
          (/^(?:locked|upgrade|LiveMigratable)\n/u.exec(part) ?? []).map((name) => name.trim()),
        ),
    ).toEqual(['locked', 'upgrade', 'LiveMigratable'])
  })

  test.each([
    [
      'explain locked kubernets-window',
      'nothing is named "kubernets-window"',
      'kvup explain kubernetes-window',
    ],
    ['explain locked nodes', 'kvup explains nodes alone', 'kvup explain nodes'],
  ])('%s: exit 2, and which name it is', async (line, says, helps) => {
    const { code, out, err } = await kvup(line, { cluster: nowhere })
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
    expect(err).toContain(helps)
  })

  test('a command: how to use it, and what it may meet; one below another by both words', async () => {
    const { out } = await kvup('explain upgrade', { cluster: nowhere })
    expect(headed(out)).toEqual([
      ...without.map((part) => part.replace('How to fix', 'How to use it')),
      'What it may meet',
    ])
    expect(out).toMatch(/^no-way-back {3,}/mu)
    const abort = await kvup('explain eus abort', { cluster: nowhere })
    expect([abort.code, abort.out.split('\n')[0]]).toEqual([0, 'eus abort'])
    expect((await kvup('explain workloads hold', { cluster: nowhere })).code).toBe(2)
  })

  test('a line to paste stays one command', async () => {
    const { out } = await kvup('explain master-paused', { cluster: nowhere, columns: 40 })
    expect(out.replaceAll(/ \\\n\s*/gu, ' ')).toMatch(
      / oc patch machineconfigpool master --type=merge -p '\S+'$/mu,
    )
  })

  test('links are their words, and no line is long', async () => {
    const { out } = await kvup('explain hop-supported')
    expect(out).not.toMatch(/\]\(|[^d]#/u)
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  test('names the public runbook where there is one', async () => {
    const { out } = await kvup('explain methods-empty-without-override')
    expect(out).toContain('runbooks/OutdatedVirtualMachineInstanceWorkloads')
  })

  test('lists all names, those of issues and refusals too', async () => {
    const { out } = await kvup('explain -o name')
    for (const id of ['kubernetes-window', 'evictions', 'issue-18670', 'managed-by-olm'])
      expect(out).toContain(`finding/${id}\n`)
    for (const name of ['alert/VMCannotBeEvicted', 'condition/RestartRequired', 'exit-code/exit-3'])
      expect(out).toContain(`${name}\n`)
  })

  test('lists each name with what it is about, never with a sentence that is true when nothing is wrong', async () => {
    const { out } = await kvup('explain')
    const [head, ...lines] = out.trimEnd().split('\n')
    expect(head).toMatch(/^FINDING +MEANING$/u)
    expect(lines).toContain(
      `${'kubernetes-window'.padEnd(33)}The target does not support the Kubernetes version that runs here`,
    )
    expect(
      lines.filter((line) => (line !== '' && !/^[\w-]+ {3,}\S/u.test(line)) || line.length > 150),
    ).toEqual([])
    expect(lines.filter((line) => / (?:blocker|warning|info|refused)[.,]/iu.test(line))).toEqual([])
  })

  test.each([
    'log-client-certificates',
    '{"component":"virt-handler","level":"error","msg":"failed to load the certificate /etc/virt-handler/clientcertificates/tls.crt and more"}',
  ])(
    'a line that is logged by design is harmless, by its name and as it stands in the log: %s',
    async (id) => {
      const { code, out } = await runText(['explain', id], { cluster: nowhere, clock: new SimClock() })
      expect(code).toBe(0)
      expect(out.replaceAll(/\s+/gu, ' ')).toMatch(
        /^log-client-certificates .* log of virt-handler of v1\.7\.0 and later\. .*kubevirt issue 16264.* This is harmless: there is nothing to do\. .*Nothing has to be done\./u,
      )
    },
  )

  test('a line that tells of a fault says which releases have it', async () => {
    const { out } = await runText(['explain', 'pkg/virt-handler.cellToCell({0x0, 0x0'], {
      cluster: nowhere,
      clock: new SimClock(),
    })
    expect(out.replaceAll(/\s+/gu, ' ')).toMatch(
      /^log-cell-to-cell .* of v1\.4\.0 until v1\.4\.1, v1\.5\.0 until v1\.5\.1\. .*The component fails, and an upgrade waits for it\. .*the release that has the fix/u,
    )
  })

  test.each([
    '{"component":"virt-handler","level":"info","msg":"re-enqueuing VirtualMachineInstance default/guest-1","pos":"vm.go:1588","reason":"rpc error: code = Unavailable desc = error reading from server: EOF"}',
    "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector (x86-64-v2+).",
    'E1125 12:00:00.000000 1 reflector.go:178] [*v1.KubeVirt',
  ])('a line of a log that nobody knows is a wrong name, whatever it is made of: %s', async (line) => {
    const { code, err } = await runText(['explain', line], { cluster: nowhere, clock: new SimClock() })
    expect([code, err.includes('nothing is named')]).toEqual([2, true])
  })

  test.each([
    ['locked', ['exit-6']],
    ['interrupted', ['exit-130', 'exit-143']],
    ['timed-out', ['exit-4']],
    ['unreachable', ['exit-8']],
    ['output-format', ['exit-2']],
    ['bug', ['exit-1']],
  ])('the reason of an error leads to its exit code: %s', async (reason, ids) => {
    const { code, out } = await kvup(`explain ${reason} -o name`, { cluster: nowhere })
    expect([code, out]).toEqual([0, ids.map((id) => `exit-code/${id}\n`).join('')])
  })

  test('every reason that the program gives an error is a name that explain knows', async () => {
    for (const reason of Object.keys(reasons)) {
      const { code, out } = await kvup(`explain ${reason} -o name`, { cluster: nowhere })
      expect([reason, code]).toEqual([reason, 0])
      expect(out).not.toBe('')
    }
  })

  test('a name that nothing has: exit 2, and the nearest', async () => {
    const { code, err } = await kvup('explain kubernets-window')
    expect([code, err.includes('kvup explain kubernetes-window')]).toEqual([2, true])
  })

  test.each(['eus', 'EUS'])(
    '%s: what the command is for, those below it, and what it may meet',
    async (word) => {
      const { code, out } = await kvup(`explain ${word}`, { cluster: nowhere })
      expect(code).toBe(0)
      expect(out).toMatch(/^eus\nCommand\.\n\nWhat it means\n {2}Upgrades OpenShift or OKD/u)
      expect(out).toMatch(/^ {2}kvup eus run {3,}\S/mu)
      for (const id of ['pool-degraded', 'admin-gates-open', 'window-open'])
        expect(out).toMatch(new RegExp(`^${id} {3,}`, 'mu'))
    },
  )

  test('a group of checks: its own, and no others', async () => {
    const { out } = await kvup('explain nodes -o name')
    const named = out.trimEnd().split('\n')
    expect(named).toContain('finding/node-ready')
    expect(named).toHaveLength(allChecks.filter(({ group }) => group === 'nodes').length)
  })

  test('a word that is no name: those that speak of it, where the list is, and the groups', async () => {
    const { code, err } = await kvup('explain pool')
    expect(code).toBe(2)
    expect(err).toContain('kvup explain pool-degraded')
    expect(err).toMatch(/groups of names: .*eus.*nodes/u)
  })
})

describe('kvup releases', () => {
  test('prints what there is, newest last, and the Kubernetes it runs on', async () => {
    const { code, out } = await kvup('releases --since v1.8.4', { cluster: nowhere })
    expect(code).toBe(0)
    expect(out.split('\n').slice(0, 3)).toEqual([
      'VERSION   RELEASED     LATEST   KUBERNETES',
      'v1.8.4    2026-06-15   yes      1.33 to 1.35',
      'v1.9.0    2026-07-30   yes      1.34 to 1.36',
    ])
  })

  test('prints what each minor breaks, with the check that tells it and the source', async () => {
    const { out } = await kvup('releases --since v1.8.2', { cluster: nowhere })
    const rows = out.split('\n').filter((line) => /^v1\.[89] {3}/u.test(line))
    expect(rows.find((line) => line.includes('screenshot-rights'))).toMatch(
      /^v1\.8 {3}from v1\.8\.2 .* loses vnc\/screenshot +#17512 #17525$/u,
    )
    expect(rows.find((line) => line.includes('qemu-jump'))).toMatch(/v1\.8\.0\/hack\/rpm-deps\.sh$/u)
    expect(out).toContain('\n#NUMBER is https://github.com/kubevirt/kubevirt/pull/NUMBER\n')
    const before = await kvup('releases --until v1.0.1', { cluster: nowhere })
    expect(before.out).not.toContain('SOURCE')
  })

  test.each([120, 80, 40])(
    '%i columns: what breaks is there whole, and no line is wider',
    async (columns) => {
      const { out } = await kvup('releases --since v1.8.4 --until v1.8.4', { cluster: nowhere, columns })
      expect(out.replaceAll(/\s+/gu, ' ')).toContain(columns === 120 ? '#16060' : 'CPUs of the same vendor')
      expect(out.split('\n').filter((line) => line.length > columns && !line.includes('http'))).toEqual([])
    },
  )

  test('what it prints as JSON is what --releases takes', async () => {
    const { out } = await kvup('releases --since v1.7.0 --until v1.8.2 -o json')
    const again = await kvup('releases --releases own.json -o name', { files: { 'own.json': out } })
    expect(again.code).toBe(0)
    expect(again.out.trim().split('\n').at(-1)).toBe('release/v1.8.2')
    const judged = await kvup('check --to v1.9.0 --releases own.json -o json', { files: { 'own.json': out } })
    expect(found(read(judged)).map(({ id }) => id)).toContain('release-unknown')
  })

  test('--since after --until is a usage error', async () => {
    expect((await kvup('releases --since v1.9.0 --until v1.8.0')).code).toBe(2)
  })
})
