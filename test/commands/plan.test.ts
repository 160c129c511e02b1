import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { fileIn } from './saved.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({
    clock,
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    methods: ['LiveMigrate'],
    vms: 3,
  })
})
afterAll(() => sim.stop())

type More = Parameters<typeof runText>[1]
const kvup = (line: string, more: Partial<More> = {}) =>
  runText(line.split(' '), { cluster: sim.cluster(), clock, ...more })
const nowhere = {} as Cluster

interface Plan {
  kind: string
  status: string
  findings: { id: string; remedy: string[] }[]
  steps: { id: string; changes?: { by: string; fields: unknown[] }[]; time?: object }[]
  seal?: { uid: string; cluster: string }
  time?: { basis: string }
  manifest?: { sha256: string; rights: { role: string; gained: string[] }[]; crds: unknown[] }
  error?: { reason: string }
}
const read = ({ out }: { out: string }) => parse(out) as Plan

describe('kvup plan', () => {
  test('writes nothing, and says the same in every format', async () => {
    const before = sim.store.audit.length
    const line = 'plan --to v1.8.4 -o'
    const [json, yaml, names] = [
      await kvup(`${line} json`),
      await kvup(`${line} yaml`),
      await kvup(`${line} name`),
    ]
    const ours = sim.store.audit.slice(before).filter(({ user }) => user === 'kubernetes-admin')
    expect(ours.filter(isWrite)).toEqual([])
    expect(ours.some(({ dryRun }) => dryRun)).toBe(true)
    const [one, other] = [read(json), read(yaml)]
    expect(other.steps).toEqual(one.steps)
    expect(other.findings).toEqual(one.findings)
    expect(names.out.trim().split('\n')).toEqual(one.steps.map(({ id }) => `step/${id}`))
    const [table, markdown] = [await kvup(`${line} table`), await kvup(`${line} markdown`)]
    for (const { id } of one.findings) {
      expect(table.out).toContain(id)
      expect(markdown.out).toContain(`\`${id}\``)
    }
    expect([json, yaml, names, table, markdown].map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
  })

  test('asks for each list once, but for VMIs, quotas, budgets and the pods of a node, of which little is kept, and not what this user may do', async () => {
    const before = sim.store.audit.length
    expect(await kvup('plan --to v1.8.4')).toMatchObject({ code: 0 })
    const ours = sim.store.audit.slice(before).filter(({ user }) => user === 'kubernetes-admin')
    const lists = ours.filter(({ verb, status }) => verb === 'list' && status < 400)
    const asked = lists.map(({ group, resource, namespace = '' }) => `${group} ${resource} ${namespace}`)
    const again = asked.filter((one, index) => asked.indexOf(one) !== index)
    // What kvup changed for a time lies on the KubeVirt: that is asked anew whenever it decides something.
    expect(again.filter((one) => one !== 'kubevirt.io kubevirts kubevirt').toSorted()).toEqual([
      ' pods ',
      ' resourcequotas ',
      'apiregistration.k8s.io apiservices ',
      'kubevirt.io virtualmachineinstances ',
      'policy poddisruptionbudgets ',
    ])
    expect(ours.filter(({ resource }) => resource === 'selfsubjectaccessreviews')).toEqual([])
  })

  test('shows the change of each step, how long it takes here, and the seal', async () => {
    const plan = read(await kvup('plan --to v1.8.4 -o yaml'))
    const tag = plan.steps.find(({ id }) => id === 'set-image-tag')
    expect(tag?.changes).toMatchObject([
      { by: 'server', fields: [{ path: 'spec.imageTag', from: 'v1.7.4', to: 'v1.8.4' }] },
    ])
    expect(plan.steps.every(({ time }) => time !== undefined)).toBe(true)
    expect(plan.time).toBeDefined()
    expect(plan.seal?.cluster).toBe(
      sim.store.read(
        { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
        { name: 'kube-system' },
      )?.metadata.uid,
    )
  })

  test('--exit-code is 10 with changes pending, 0 where the cluster is there already', async () => {
    expect(await kvup('plan --to v1.8.4 --exit-code')).toMatchObject({ code: 10 })
    expect(await kvup('plan --to v1.8.4')).toMatchObject({ code: 0 })
    expect(await kvup('plan --to v1.7.4 --exit-code')).toMatchObject({ code: 0 })
  })

  test('a blocker is exit 3 behind the whole plan, until it is accepted by name', async () => {
    const blocked = await kvup('plan --to v1.7.3 -o yaml')
    expect(blocked.code).toBe(3)
    expect(read(blocked)).toMatchObject({
      kind: 'UpgradePlan',
      status: 'failed',
      error: { reason: 'downgrade' },
    })
    expect(read(blocked).steps.length).toBeGreaterThan(5)
    expect(await kvup('plan --to v1.7.3 --accept downgrade=tested -o yaml')).toMatchObject({ code: 0 })
  })

  test('what would be refused is not offered: no command carries it out', async () => {
    const [doc, table, markdown] = [
      await kvup('plan --to v1.7.3 -o json'),
      await kvup('plan --to v1.7.3'),
      await kvup('plan --to v1.7.3 -o markdown'),
    ]
    expect(read(doc)).toMatchObject({ next: [], pending: true })
    expect(table.out).toMatch(/^Plan: BLOCKED by 1 blocker: KubeVirt v1\.7\.4 -> v1\.7\.3, \d+ steps, /)
    expect(table.out).toMatch(/\nNext: kvup explain downgrade\n$/)
    // What the page shows is not told once more.
    expect(table.err).toMatch(
      /^error: kvup upgrade would be refused because of this finding \(downgrade\)\n {2}Or: kvup plan --to v1\.7\.3 --accept downgrade +accepts .*\n$/,
    )
    expect(markdown.out).toContain('refused as it stands: downgrade.')
    expect(table.out + markdown.out).not.toContain('kvup upgrade --to v1.7.3')
  })

  test('where it is there already it says so, and nothing of what will happen', async () => {
    const [doc, table, markdown] = [
      await kvup('plan --to v1.7.4 -o json'),
      await kvup('plan --to v1.7.4'),
      await kvup('plan --to v1.7.4 -o markdown'),
    ]
    expect(read(doc)).toMatchObject({ next: [], pending: false, said: [] })
    expect(table.out).toBe('Plan: nothing to do: KubeVirt v1.7.4 is healthy. Nothing was changed.\n')
    expect(markdown.out).toContain('nothing to do.')
    for (const { out } of [table, markdown]) expect(out).not.toMatch(/virt-api is replaced|takes|estimate/)
  })

  test('on a terminal it is a screen: the verdict first, a line for each step, the next line last', async () => {
    const { out } = await kvup('plan --to v1.8.4', { columns: 80 })
    const lines = out.trimEnd().split('\n')
    expect(lines.filter((line) => line !== '').length).toBeLessThanOrEqual(26)
    expect(out.split('\n\n', 1)[0]?.replaceAll(/\s+/gu, ' ')).toMatch(
      /^Plan: KubeVirt v1\.7\.4 → v1\.8\.4, 11 steps, .* min, (?:\d warnings?, )?\d infos?\. Nothing was changed\.$/u,
    )
    const ids = read(await kvup('plan --to v1.8.4 -o json')).steps.map(({ id }) => id)
    expect(lines.filter((line) => /^ {1,2}\d+ \S/u.test(line))).toHaveLength(ids.length)
    expect(out).not.toMatch(/undo:|gives up|sealed|note:/u)
    expect(out).toMatch(
      /\nNext: kvup upgrade --to v1\.8\.4 .*\nOr: kvup plan --to v1\.8\.4 --to-file plan\.yaml/u,
    )
    const wide = await kvup('plan --to v1.8.4 -o wide')
    for (const detail of ['undo: ', 'gives up after ', 'sealed ', '+ spec.imageTag: v1.8.4'])
      expect(wide.out).toContain(detail)
  })

  test('the way back is one line from virt-controller on: it works at either time', async () => {
    const { out } = await kvup('plan --to v1.8.4 -o json')
    const { steps } = parse(out) as { steps: { id: string; risk: { undo: string } }[] }
    const undo = new Map(steps.map(({ id, risk }) => [id, risk.undo]))
    expect(undo.get('virt-handler')).toBe('kvup upgrade --to v1.7.4')
    const both = 'kvup upgrade --to v1.7.4 --accept way-back --accept downgrade'
    expect([undo.get('virt-controller'), undo.get('virt-api')]).toEqual([both, both])
  })

  test('a release that nobody knows, over minors that nobody knows, is told first, and is exit 2', async () => {
    const said = 'error: v1.99.0 is not a KubeVirt release that kvup knows; the newest it knows is v1.9.0\n'
    for (const line of [
      'plan --to v1.99.0',
      'upgrade --to v1.99.0 --yes',
      'upgrade --to v1.99.0 --dry-run',
    ]) {
      const ended = await kvup(line)
      expect(ended.code).toBe(2)
      expect(ended.err.startsWith(said)).toBe(true)
      expect(ended.err).toContain('-> kvup releases')
    }
    const check = await kvup('check --to v1.99.0')
    expect(check.code).toBe(3)
    expect(check.out).toContain(
      ' x v1.99.0 is not a KubeVirt release that kvup knows; the newest it knows is v1.9.0. v1.7.4 to v1.99.0 skips ',
    )
    expect(check.out).toContain(
      'NOT READY: v1.99.0 is not a KubeVirt release that kvup knows (minor-skipped)',
    )
  })

  test('a patch that nobody knows works with its manifest; without one it is told before the address', async () => {
    const files = { 'operator.yaml': asYaml(sim.operatorManifest('v1.8.99')) }
    const given = await kvup('plan --to v1.8.99 --manifest operator.yaml -o yaml', { files })
    expect(given.code).toBe(0)
    expect(read(given).findings.map(({ id }) => id)).toContain('release-unknown')
    const nowhere9 = 'plan --to v1.8.99 --method operator-manifest --manifest-base http://127.0.0.1:9'
    const unread = read(await kvup(`${nowhere9} -o yaml`)).findings.find(
      ({ id }) => id === 'manifest-not-read',
    )
    expect(unread).toMatchObject({
      summary: expect.stringMatching(
        /^v1\.8\.99 is not a KubeVirt release that kvup knows; the newest v1\.8 it knows is v1\.8\.4\. The operator manifest was not read: /u,
      ),
    })
    expect(unread?.remedy[0]).toMatch(/^kvup releases {5}/u)
  })

  test('each line of the last block of Markdown can be pasted whole', async () => {
    const { out } = await kvup('plan --to v1.8.4 -o markdown')
    const block = /## Carry it out\n\n```\n([^`]*)```/u.exec(out)?.[1] ?? ''
    expect(block.trim().split('\n')).toEqual([
      expect.stringMatching(/^kvup upgrade --to v1\.8\.4 +# /),
      expect.stringMatching(/^kvup plan --to v1\.8\.4 --to-file plan\.yaml +# /),
    ])
  })

  test('the operator manifest: what it changes, its rights and CRDs, and its checksum', async () => {
    const files = { 'operator.yaml': asYaml(sim.operatorManifest('v1.8.4')) }
    const to = 'plan --to v1.8.4 --method operator-manifest --manifest operator.yaml -o yaml'
    expect(read(await kvup(to, { files })).manifest).toMatchObject({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('a manifest that cannot be fetched: the plan is shown without it, and blocks', async () => {
    const line = 'plan --to v1.9.0 --method operator-manifest --manifest-base http://127.0.0.1:9 -o yaml'
    const ended = await kvup(line)
    expect(ended.code).toBe(8)
    const unread = read(ended).findings.find(({ id }) => id === 'manifest-not-read')
    expect(unread?.remedy.filter((help) => help.includes('--manifest FILE'))).toHaveLength(1)
  })

  test('--from: of a saved cluster, worked out by kvup alone', async () => {
    const file = fileIn('plan.ndjson')
    expect(await kvup(`snapshot --to-file ${file}`)).toMatchObject({ code: 0 })
    const [live, saved] = [
      await kvup('plan --to v1.8.4 -o yaml'),
      await kvup(`plan --to v1.8.4 --from ${file} -o yaml`, { cluster: nowhere }),
    ]
    expect(saved.code).toBe(0)
    expect(read(saved).steps.map(({ id }) => id)).toEqual(read(live).steps.map(({ id }) => id))
    expect(read(saved).steps.flatMap(({ changes = [] }) => changes.map(({ by }) => by))).toEqual([
      'client',
      'client',
    ])
    expect(read(saved).seal?.cluster).toBe(read(live).seal?.cluster)
  })

  test('without a target, or with an unknown risk, it is exit 2 before anything is asked', async () => {
    expect(await kvup('plan', { cluster: nowhere })).toMatchObject({ code: 2 })
    const unknown = await kvup('plan --to v1.8.4 --accept patch-skiped', { cluster: nowhere })
    expect(unknown).toMatchObject({ code: 2 })
    expect(unknown.err).toContain('--accept patch-skipped')
    expect(await kvup('plan --to 1.8', { cluster: nowhere })).toMatchObject({ code: 2 })
  })
})

describe('kvup upgrade --plan', () => {
  test.each([
    ['a file that is not there', {}, 'cannot read the plan plan.yaml'],
    ['text that is broken, with its line', { 'plan.yaml': 'kind: [x\n' }, 'plan.yaml:2'],
    ['another document', { 'plan.yaml': 'apiVersion: kvup.io/v1alpha1\nkind: Status\n' }, 'Status, not a'],
  ])('%s is exit 2', async (_, files, why) => {
    const ended = await kvup('upgrade --plan plan.yaml --yes', { files, cluster: nowhere })
    expect(ended).toMatchObject({ code: 2 })
    expect(ended.err).toContain(why)
    expect(ended.err).toMatch(/^ {2}make (?:it|one) with --to-file .*of kvup plan$/mu)
  })

  test('a dry run of it is the plan again; --to beside it is exit 2', async () => {
    const made = await kvup('plan --to v1.8.4 -o yaml')
    const files = { 'plan.yaml': made.out }
    const again = await kvup('upgrade --plan plan.yaml --dry-run=server -o yaml', { files })
    expect(again.code).toBe(0)
    expect(read(again).steps.map(({ id }) => id)).toEqual(read(made).steps.map(({ id }) => id))
    const both = await kvup('upgrade --to v1.8.4 --plan plan.yaml', { files, cluster: nowhere })
    expect(both.code).toBe(2)
    expect(both.err).toContain('-> kvup upgrade --plan plan.yaml')
  })
})
