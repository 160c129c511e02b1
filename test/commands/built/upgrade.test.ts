// Whole upgrades over sockets, in the time of the wall: more than 3 s of processor time.
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { type KubeVirt, KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
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
