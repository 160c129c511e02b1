// Whole upgrades over sockets, in the time of the wall: more than 3 s of processor time.
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import {
  type KubeVirt,
  KubeVirts,
  VirtualMachineInstances,
} from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type DaemonSet, DaemonSets } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { kvup, paste } from '../in-process.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
afterEach(() => alive.stop())

const methods = ['LiveMigrate']
const run = ['--to', 'v1.8.4', '--yes', '--stable-for', '0s'] as const

/** What the cluster says from outside. */
function standing({ store }: Alive) {
  const namespace = 'kubevirt'
  const { spec, status } = store.read(KubeVirts, { namespace, name: 'kubevirt' }) as KubeVirt
  const handler = store.read(DaemonSets, { namespace, name: 'virt-handler' }) as DaemonSet
  return {
    observed: status?.observedKubeVirtVersion,
    methods: spec?.workloadUpdateStrategy?.workloadUpdateMethods,
    handler: handler.spec?.template?.spec?.containers?.[0]?.image,
  }
}

const there = { observed: 'v1.8.4', methods, handler: 'quay.io/kubevirt/virt-handler:v1.8.4' }

describe('the main job on a pipe', () => {
  test('manner 36: by image tag: a line per change, exit 0, and a second run changes nothing', async () => {
    alive = await serveCluster({
      version: 'v1.7.4',
      operator: 'v1.8.4',
      method: 'image-tag',
      vms: 2,
      methods,
    })
    const first = await kvup(['upgrade', ...run], alive)
    expect(first.code).toBe(0)
    expect(standing(alive)).toEqual(there)
    const lines = first.stderr.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^Upgrade KubeVirt v1\.7\.4 → v1\.8\.4 on \S+ \(https?:\S+\) as \S+$/u)
    expect(lines).toContain('method    image tag of kubevirts/kubevirt in namespace kubevirt')
    const story = lines.filter((line) => /^\d\d:\d\d:\d\d /.test(line)).map((line) => line.slice(9))
    expect(story[0]).toMatch(/^KubeVirt v1\.7\.4 → v1\.8\.4 on \S+$/)
    expect(
      story.some((line) => /^Prepare: done.*, automatic VM updates paused \(was LiveMigrate\)$/.test(line)),
    ).toBe(true)
    expect(story.some((line) => /^virt-handler: done.*, 3 of 3 nodes$/.test(line))).toBe(true)
    expect(story.at(-1)).toMatch(/^done in \d+ s$|^done in \d+ m/)
    expect(story).toEqual([...new Set(story)])
    // The verdict comes first, and what goes on behind it.
    expect(first.stdout).toMatch(/^✔ KubeVirt v1\.8\.4 on \S+, [\d ms]+\. 2 VMs kept running/)
    expect(first.stdout).toMatch(/^ {2}report: kvup history 1$/m)
    expect(first.stdout).not.toMatch(/^(?:took|virtctl|accepted|migrations) |dry-run create/m)
    const writes = alive.writes().length
    const second = await kvup(['upgrade', ...run], alive)
    expect(second).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✔ KubeVirt v1\.8\.4 on \S+ is healthy: nothing to do\n$/) as string,
      stderr: '',
    })
    expect(alive.writes().length).toBe(writes)
  })

  test('a VM that is lost meanwhile: done, exit 9, and which one it was', async () => {
    alive = await serveCluster({
      version: 'v1.7.4',
      operator: 'v1.8.4',
      method: 'image-tag',
      vms: 2,
      methods,
    })
    const { store } = alive
    let isLost = false
    store.watch(KubeVirts, ({ object }) => {
      if (isLost || (object as KubeVirt).spec?.imageTag !== 'v1.8.4') return
      isLost = true
      store.remove(VirtualMachineInstances, { name: 'web-1', namespace: 'demo' }, { now: true })
    })
    const ended = await kvup(['upgrade', ...run, '-o', 'json'], alive)
    expect(ended.code).toBe(9)
    expect(standing(alive)).toEqual(there)
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: 'done',
      changes: [{ kind: 'VirtualMachine', namespace: 'demo', name: 'web-1', what: 'restarted', lost: true }],
      error: {
        code: 9,
        reason: 'workloads-lost',
        message: 'KubeVirt v1.8.4 is installed, but 1 VM lost its VMI: demo/web-1 (restarted)',
      },
    })
    expect(ended.stderr).toContain('kubectl -n demo get events --field-selector involvedObject.name=web-1')
  })

  test('by operator manifest: what it replaces is saved first', async () => {
    alive = await serveCluster({ version: 'v1.7.4', vms: 2, methods })
    const manifest = ['--manifest', alive.manifest('v1.8.4')]
    const first = await kvup(['upgrade', ...run, ...manifest, '-o', 'json'], { ...alive, cwd: alive.folder })
    expect(first.code).toBe(0)
    expect(standing(alive)).toEqual(there)
    const report = JSON.parse(first.stdout) as { outcome: string; method: string; backup: string }
    expect(report).toMatchObject({ outcome: 'done', method: 'operator-manifest', status: 'complete' })
    expect(readFileSync(`${alive.folder}/${report.backup}`, 'utf8')).toContain('virt-operator:v1.7.4')
    const writes = alive.writes().length
    const second = await kvup(['upgrade', ...run, ...manifest], alive)
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing to do') as string })
    expect(alive.writes().length).toBe(writes)
  })

  test('-o ndjson: every line is a document, events first, the report last', async () => {
    alive = await serveCluster({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
    const { code, stdout, stderr } = await kvup(['upgrade', ...run, '-o', 'ndjson'], alive)
    const documents = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string })
    expect(code).toBe(0)
    expect(documents.at(-1)).toMatchObject({ kind: 'UpgradeReport', status: 'complete' })
    expect(new Set(documents.slice(0, -1).map(({ kind }) => kind))).toEqual(new Set(['Event']))
    expect(stderr).not.toMatch(/^\d\d:\d\d:\d\d /m)
  })

  test('a reader that goes away after the first line ends no upgrade', async () => {
    alive = await serveCluster({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', methods })
    const { stdout } = await paste(`kvup upgrade ${run.join(' ')} 2>&1 | head -1`, alive)
    expect(stdout).toMatch(/^Upgrade KubeVirt v1\.7\.4 → v1\.8\.4 on [^\n]+\n$/)
    expect(standing(alive)).toEqual(there)
  })

  test('manner 19: a server dry run asks for every change and makes none', async () => {
    alive = await serveCluster({ version: 'v1.7.4', vms: 1, methods })
    const flags = ['--manifest', alive.manifest('v1.8.4'), '--dry-run=server', '-o', 'wide']
    const { code, stdout } = await kvup(['upgrade', '--to', 'v1.8.4', ...flags], alive)
    expect(code).toBe(0)
    expect(stdout).toMatch(/server dry run: nothing was changed\n/)
    expect(stdout).toMatch(/pause automatic VM\s+updates +.*\n +would change: /)
    expect(stdout).toMatch(/after step \d+ \(no dry run possible\)/)
    expect(alive.store.audit.some(({ dryRun, userAgent }) => dryRun && userAgent.startsWith('kvup/'))).toBe(
      true,
    )
    expect(alive.writes()).toEqual([])
  })
})

describe('an upgrade that cannot go on', () => {
  test('manner 38: --timeout: exit 4, what stands in the way, the loan and the ways on', async () => {
    alive = await serveCluster({
      version: 'v1.8.4',
      method: 'image-tag',
      methods,
      faults: { unpullable: ':v1\\.8\\.5$' },
    })
    const { code, stdout, stderr } = await kvup(
      'upgrade --to v1.8.5 --method image-tag --yes --timeout 4s --accept release-unknown'.split(' '),
      alive,
    )
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    const [, end = ''] = stderr.split('error: ')
    expect(end).toMatch(/^timed out after 4 s \(--timeout\) while installing CRDs and RBAC\n/)
    expect(end).toMatch(/cannot pull quay\.io\/kubevirt\/virt-operator:v1\.8\.5/)
    expect(end).toMatch(/paused \d+ s ago: automatic VM updates \(was LiveMigrate\); /)
    expect(end).toMatch(/\nThen: kvup upgrade --to v1\.8\.5 .* +# continues, once the image can be pulled\n/)
    expect(end).toMatch(/\nBack: kvup upgrade --to v1\.8\.4 +# goes back\n/)
    expect(end).toMatch(/\nOr: kvup workloads resume-updates +# resumes automatic VM updates/)
    const lines = end.split('\n').filter((line) => line.includes('kvup '))
    expect(lines.filter((line) => line.includes('v1.8.4 '))).toHaveLength(1)
    expect(standing(alive)).toMatchObject({ observed: 'v1.8.4', methods: [] })
  })

  test('somebody undoes the change: exit 3, and who it was', async () => {
    alive = await serveCluster({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag' })
    alive.faults.add({
      is: 'reverts',
      resource: 'kubevirts',
      path: ['spec', 'imageTag'],
      value: 'v1.7.4',
      afterMs: 500,
      by: 'argocd-controller',
    })
    const { code, stderr } = await kvup(['upgrade', ...run], alive)
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('argocd-controller') as string,
    })
  })
})
