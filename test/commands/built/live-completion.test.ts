import { afterAll, beforeAll, expect, test } from 'vitest'
import { okdOlm } from '../../../src/simulator/olm/olm-shape.ts'
import { kvup } from '../in-process.ts'
import { sooner } from './shells/terminal-shell.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
beforeAll(async () => {
  alive = await serveCluster({
    version: 'v1.7.0',
    method: 'image-tag',
    operator: 'v1.8.4',
    speed: 1,
    users: ['jane'],
  })
})
afterAll(() => alive.stop())

/** Names and flags of a person's own, and nothing else. */
const nowhere = { kubeconfig: '/nonexistent/config' }
async function offered(
  line: string,
  setting: { kubeconfig?: string; env?: Record<string, string> } = nowhere,
) {
  const { code, stdout, stderr, ms } = await kvup(['__complete', '--', ...line.split(' ')], setting)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const values = stdout.split('\n').flatMap((row) => (/^(:|$)/.test(row) ? [] : [row.split('\t')[0]]))
  return { values, ms }
}

/** Only the values, for expect.poll. */
const offer =
  (...asked: Parameters<typeof offered>) =>
  async () =>
    (await offered(...asked)).values

test('--to offers what this cluster can reach, also of a cluster that is named on the line', async () => {
  const there = ['v1.7.4', 'v1.8.4']
  await expect.poll(offer('upgrade --to ', alive), sooner).toEqual(there)
  await expect.poll(offer('check --to=v1.8', alive), sooner).toEqual(['v1.8.4'])
  await expect.poll(offer(`--kubeconfig ${alive.kubeconfig} check --to `), sooner).toEqual(there)
})

test('--to offers what the catalog has, where HyperConverged owns KubeVirt', async () => {
  const olm = await serveCluster({ olm: okdOlm(), speed: 1 })
  try {
    await expect.poll(offer('upgrade --to ', olm), sooner).toEqual(['1.18.1', '1.19.0'])
  } finally {
    await olm.stop()
  }
})

test('without a cluster it offers the latest known patches', async () => {
  await expect.poll(offer('upgrade --to '), sooner).toEqual(expect.arrayContaining(['v1.8.4', 'v1.7.4']))
})

test('--context offers those of the kubeconfig, and nothing without one', async () => {
  await expect.poll(offer('status --context ', alive), sooner).toContain('sim')
  await expect.poll(offer('status --context '), sooner).toEqual([])
})

test.each([
  ['check --accept kubernetes-w', 'kubernetes-window'],
  ['upgrade --accept=kubernetes-w', 'kubernetes-window'],
  ['explain kubernetes-w', 'kubernetes-window'],
  ['wait --for h', 'healthy'],
  ['wait --for ', 'workloads=0'],
  ['demo --scenario wrong', 'wrong-tag'],
  ['upgrade --method im', 'image-tag'],
  ['upgrade --dry-run s', 'server'],
  ['check -o ju', 'junit'],
  ['upgrade -o gi', 'github'],
  ['status -o gi', 'github'],
  ['upgrade --stalled', '--stalled-after'],
  ['wait --log', '--log-file'],
  ['releases --since v1.0', 'v1.0.1'],
  ['help work', 'workloads'],
  ['-v ', '6'],
])('%s', async (line, value) => {
  await expect.poll(offer(line), sooner).toContain(value)
})

test('what cannot be accepted is not offered for it', async () => {
  const [{ values: named }, { values: accepted }] = await Promise.all([
    offered('explain '),
    offered('check --accept '),
  ])
  expect(accepted.length).toBeGreaterThan(50)
  expect(named.filter((id) => !accepted.includes(id))).toContain('managed-by-hyperconverged')
})

test('--cluster and --user as in the kubeconfig, --namespace-of-kubevirt as on the cluster', async () => {
  await expect.poll(offer('status --cluster ', alive), sooner).toEqual(['sim'])
  await expect.poll(offer('status --user j', alive), sooner).toEqual(['jane'])
  await expect.poll(offer('rbac kvup-view --namespace-of-kubevirt ', alive), sooner).toEqual(['kubevirt'])
})

test('--until offers the steps that a dry run has, by every method, --pause-before those that can be held', async () => {
  const dryRun = async (...flags: string[]) => {
    const { stdout } = await kvup(
      ['upgrade', '--to', 'v1.8.4', ...flags, '--dry-run=client', '-o', 'json'],
      alive,
    )
    const { steps } = JSON.parse(stdout) as { steps: { id: string; canBeHeld?: true }[] }
    return steps
  }
  for (const flags of ['--method=image-tag', '--no-pause-updates --migrations ignore', '--wait-workloads']) {
    const steps = await dryRun(...flags.split(' '))
    expect(steps.length).toBeGreaterThan(5)
    const ids = steps.map(({ id }) => id)
    await expect.poll(offer(`upgrade --to v1.8.4 ${flags} --until `, alive), sooner).toEqual(ids)
  }
  const manifest = alive.manifest('v1.8.4')
  const steps = await dryRun('--manifest', manifest)
  const held = steps.flatMap(({ id, canBeHeld }) => (canBeHeld ? [id] : []))
  expect(held).toContain('apply-operator-manifest')
  await expect
    .poll(offer(`upgrade --to v1.8.4 --manifest ${manifest} --pause-before `, alive), sooner)
    .toEqual(held)
})

test('a saved cluster is not read, and the live one is not asked for it', async () => {
  await expect.poll(offer('check --from nowhere.gz --to ', alive), sooner).toContain('v1.6.6')
})

test.each(['json', 'yaml', 'name', 'nonsense'])(
  'KVUP_OUTPUT=%s does not change what scripts read',
  async (format) => {
    const { values } = await offered('stat', { env: { KVUP_OUTPUT: format } })
    expect(values).toEqual(['status'])
  },
)

const ofVms: readonly [string, readonly string[]][] = [
  ['workloads update --until ', ['wave']],
  ['workloads update --canary 1 --wave-by namespace --pause-before ', ['canary', 'wave-demo']],
  ['workloads update --wave-by namespace --waves d', ['demo']],
  ['workloads unblock -n demo web-1 ', ['web-2', 'web-3']],
  ['workloads unblock w', []],
  ['workloads update -n ', ['demo']],
  ['workloads strategy set --methods L', ['LiveMigrate', 'LiveMigrate,Evict']],
  ['workloads restart --until ', []],
]

test('of VMs: waves that are left, names in the namespace of -n, each once, and methods', async () => {
  const outdated = await serveCluster({ version: 'v1.8.4', updatedFrom: 'v1.7.0', vms: 3, speed: 1 })
  try {
    for (const [line, values] of ofVms) await expect.poll(offer(line, outdated), sooner).toEqual(values)
  } finally {
    await outdated.stop()
  }
})
