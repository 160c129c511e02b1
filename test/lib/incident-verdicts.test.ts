import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { runText } from './run-text.ts'

const nowhere = { cluster: {} as Cluster, clock: new SimClock(), columns: 200 }

const file = (name: string) => `test/examples/incidents/${name}.json`

interface Report {
  outcome: string
  next: readonly string[]
  better?: { to: string; fixes: readonly string[] }
  items: readonly { findings: readonly { id: string; level: string; summary: string }[] }[]
}

async function checked(name: string, ...more: readonly string[]) {
  const args = ['check', '--from', file(name), ...more]
  const { out, code } = await runText(args, nowhere)
  const json = await runText([...args, '-o', 'json'], nowhere)
  return { lines: out.trimEnd().split('\n'), code, report: JSON.parse(json.out) as Report }
}

test.each([
  ['01-kubevirt-pr-17029/cluster', 'v1.7.1', 'v1.7.4', 'issue-17029'],
  ['01-kubevirt-pr-17029/to-v1.6.3', 'v1.6.3', 'v1.6.6', 'issue-17029'],
  ['08-docs-89105/cluster', 'v1.5.0', 'v1.5.3', 'issue-14495'],
])(
  '%s: ready for %s, and the verdict and the next line name the patch with the fix',
  async (name, to, better, id) => {
    const { lines, code, report } = await checked(name, '--to', to)
    expect(code).toBe(0)
    expect(report.better).toMatchObject({ to: better })
    expect(report.better?.fixes).toContain(id)
    expect(lines.at(-2)).toContain(`READY, but ${better} is better: it has the fix of `)
    expect(lines.at(-1)).toContain(`Next: kvup check --from ${file(name)} --to ${better} `)
  },
  // One of them has 612 VMs.
  60_000,
)

test('what was accepted of a release is no reason for another patch', async () => {
  const { lines, report } = await checked(
    '01-kubevirt-pr-17029/cluster',
    '--to',
    'v1.7.1',
    '--accept',
    'issue-17029=tested',
  )
  expect(report.better).toBeUndefined()
  expect(lines.slice(-2)).toEqual(['READY', 'Next: kvup upgrade --to v1.7.1 --accept issue-17029=tested'])
})

test('17: a release to go to is not called a way back, and no upgrade is continued that nobody began', async () => {
  const { lines } = await checked('17-kubevirt-14318/before', '--to', 'v1.5.0')
  expect(lines.join('\n')).not.toMatch(/continues the upgrade|no way back to/u)
  expect(lines.at(-2)).toBe('NOT READY: v1.5.0 cannot be installed (no-way-back)')
})

test('17: the next line of a check is what helps against the cause, not a look at it', async () => {
  const { lines } = await checked('17-kubevirt-14318/cluster')
  expect(lines.at(-1)).toMatch(/^Next: kvup upgrade --to v1\.5\.1/u)
})

test('18: VMs that do not run are told by check as by status', async () => {
  const { report } = await checked('18-kubevirt-15355/cluster')
  const found = report.items.flatMap(({ findings }) => findings).find(({ id }) => id === 'vms-not-running')
  expect(found).toMatchObject({ level: 'warning' })
  expect(found?.summary).toMatch(
    /^6 VMs were started more than 10 min ago and do not run .*no other VM runs$/u,
  )
})

test('25: an InstallPlan that failed does not wait for approval', async () => {
  const { lines } = await checked('25-hpp-255/cluster')
  expect(lines.join('\n')).not.toMatch(/waits for your approval|then approves it/u)
})

test('38: a headline has versions of one thing at each end of its arrow', async () => {
  const { lines } = await checked('38-okd-1461/cluster', '--to', '1.18.1', '--method', 'olm')
  expect(lines[0]).toContain('HyperConverged 1.16.0 → 1.18.1 (KubeVirt v1.6.2)')
  const { out } = await runText(['status', '--from', file('38-okd-1461/cluster')], nowhere)
  expect(out.split('\n')[0]).toBe('HyperConverged 1.16.0 (KubeVirt v1.6.2): OUT OF STEP with the platform')
})

test('37: an outdated VM whose migration hangs is not said to migrate', async () => {
  const { out } = await runText(
    ['workloads', 'outdated', '--from', file('37-harvester-5756/cluster')],
    nowhere,
  )
  expect(out).toMatch(/web-1 .*not moved +its migration hangs: Running for 6 h 59 m/u)
  expect(out).toContain('11 VMs run an old virt-launcher: 7 migrate, 1 not moved, 3 cannot migrate')
})

test.each([
  'BundleUnpackFailed',
  'InstallPlanFailed',
  'ResolutionFailed',
  'CrashLoopBackOff',
  'LiveMigratable',
])('explain knows the condition %s that incidents print', async (name) => {
  const { code, out } = await runText(['explain', name], nowhere)
  expect(code).toBe(0)
  expect(out).toMatch(/What it means[^]*Why it matters[^]*How to fix/u)
})

test('explain leads from the reason of a condition to what it is about', async () => {
  const { err } = await runText(['explain', 'ClusterVersionOverridesSet'], nowhere)
  expect(err).toContain('kvup explain platform-not-upgradeable')
})

/** As `kubectl get kubevirt -A -o yaml` gives it of an appliance: versions of a distribution without v, in its own namespace, by Helm. */
const alone = readFileSync(new URL('kubevirt-alone.yaml', import.meta.url), 'utf8')

test('of a dump of the KubeVirt alone, what is not in it is not checked instead of not found, and no table is empty', async () => {
  const { out } = await runText(['status', '--from', '-'], { ...nowhere, stdin: alone })
  expect(out).toMatch(/^KubeVirt 1\.2\.2-150500\.8\.21\.1 → 1\.3\.1-150600\.5\.9\.1: updating/u)
  expect(out).toContain('operators are not checked')
  expect(out).not.toMatch(/not found|COMPONENT|\n\n\n/u)
  const wide = await runText(['status', '-o', 'wide', '--from', '-'], { ...nowhere, stdin: alone })
  expect(wide.out).toMatch(/^operator +not checked$/mu)
})

test('the next line of a saved cluster asks that file again', async () => {
  const { lines } = await checked('18-kubevirt-15355/before')
  expect(lines.at(-1)).toContain(`Next: kvup check --from ${file('18-kubevirt-15355/before')} --to v1.6.6 `)
})
