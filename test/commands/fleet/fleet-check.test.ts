import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

let stage: FleetStage
beforeAll(async () => {
  // From v1.9.0 to v1.8.4 is a downgrade, which blocks.
  stage = await fleetStage(
    ['prod-0', 'prod-1', 'stage-0', 'stage-1'],
    (name) => ({ version: name.startsWith('prod') ? 'v1.9.0' : 'v1.7.4', vms: 1 }),
    1,
  )
  const file = join(stage.folder, 'kubeconfig')
  const config = JSON.parse(readFileSync(file, 'utf8')) as {
    clusters: { name: string; cluster: { server: string } }[]
    contexts: { name: string; context: { cluster: string; user: string } }[]
  }
  config.clusters.push({ name: 'gone', cluster: { server: 'http://127.0.0.1:1' } })
  config.contexts.push({ name: 'gone', context: { cluster: 'gone', user: 'admin' } })
  writeFileSync(file, JSON.stringify(config))
})
afterAll(() => stage.stop())

interface FleetCheck {
  status: string
  items: {
    name: string
    state: string
    blockers: number
    warnings: number
    notChecked: number
    accepted: number
    findings: { id: string; level: string; summary: string }[]
    next: string
  }[]
  common: { id: string; level: string; clusters: string[] }[]
}

interface Check {
  outcome: string
  counts: { blockers: number; warnings: number; notChecked: number; accepted: number }
  items: { findings: { id: string; level: string; summary: string; accepted?: true }[] }[]
}

const line = ['fleet', 'check', '--to', 'v1.8.4']
const documentOf = async (argv: readonly string[]) =>
  JSON.parse((await stage.run([...argv, '-o', 'json'])).stdout) as FleetCheck

test('each row is what kvup check says of that cluster alone, and the exit code that of the worst', async () => {
  const all = ['--contexts', 'prod-*,stage-0']
  const ran = await stage.run([...line, ...all])
  expect(ran.code).toBe(3)
  const { items } = await documentOf([...line, ...all])
  expect(items.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'prod-0 Blocked',
    'prod-1 Blocked',
    'stage-0 Passed',
  ])
  for (const row of items) {
    const { stdout, code } = await stage.run(['check', '--context', row.name, '--to', 'v1.8.4', '-o', 'json'])
    const { outcome, counts, items: checks } = JSON.parse(stdout) as Check
    expect(row).toMatchObject({
      state: outcome === 'blocked' ? 'Blocked' : 'Passed',
      blockers: counts.blockers,
      warnings: counts.warnings,
      notChecked: counts.notChecked,
    })
    expect(code).toBe(row.state === 'Blocked' ? 3 : 0)
    const ids = checks.flatMap(({ findings }) => findings.filter(({ level }) => level !== 'info'))
    expect(row.findings.map(({ id }) => id).toSorted()).toEqual(ids.map(({ id }) => id).toSorted())
  }
})

test('what several have is counted once, with the clusters; the line to type checks the worst alone', async () => {
  const { items, common } = await documentOf([...line, '--contexts', 'prod-*,stage-0'])
  const worst = items[0]?.findings[0]
  expect(common.find(({ id }) => id === worst?.id)?.clusters).toEqual(['prod-0', 'prod-1'])
  expect(common.every(({ clusters }) => clusters.length > 1)).toBe(true)
  expect(items[0]?.next).toBe('kvup check --context prod-0 --to v1.8.4')
  const { stdout } = await stage.run([...line, '--contexts', 'prod-*,stage-0'])
  expect(stdout).toContain(`blocker ${worst?.id} on 2 clusters: prod-0, prod-1`)
  expect(stdout.split('\n')[0]).toBe('3 clusters for an upgrade to v1.8.4: 2 blocked, 1 passed')
})

test('a risk that the fleet file accepts for one cluster counts there alone', async () => {
  const strict = [...line, '--strict']
  const { items } = await documentOf([...strict, '--contexts', 'stage-0'])
  const ids = items[0]?.findings.map(({ id }) => id) ?? []
  const file = join(stage.folder, 'fleet.yaml')
  writeFileSync(
    file,
    [
      'apiVersion: kvup.io/v1alpha1',
      'kind: Fleet',
      'clusters:',
      '- context: stage-0',
      `  accept: [${ids.map((id) => `${id}=known`).join(', ')}]`,
      '- context: stage-1',
      '',
    ].join('\n'),
  )
  const accepted = await documentOf([...strict, '--file', file])
  expect(accepted.items.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'stage-1 Blocked',
    'stage-0 Passed',
  ])
  expect(accepted.items[1]?.accepted).toBeGreaterThan(0)
  writeFileSync(file, readFileSync(file, 'utf8').replace('=known', 'x=known'))
  expect((await stage.run([...line, '--file', file])).code).toBe(2)
})

test('one that does not answer is the first line, and exit 8; JUnit has a suite per cluster and a case per blocker', async () => {
  const ran = await stage.run([...line, '--contexts', '*'])
  expect(ran.code).toBe(8)
  expect(ran.stdout.split('\n')[3]).toMatch(/^✖ unreachable +gone /u)
  const { status, items } = await documentOf([...line, '--contexts', '*'])
  expect(status).toBe('partial')
  const { stdout } = await stage.run([...line, '--contexts', '*', '-o', 'junit'])
  expect(stdout.match(/<testsuite /gu)).toHaveLength(5)
  const blocking = items.flatMap(({ findings }) => findings.filter(({ level }) => level !== 'warning'))
  expect(stdout.match(/<failure /gu)).toHaveLength(blocking.length + 1)
})

test('what is typed wrong is told before a cluster is asked', async () => {
  const ran = await Promise.all([
    stage.run(['fleet', 'check', '--contexts', 'gone', '--to', 'newest']),
    stage.run(['fleet', 'check', '--contexts', 'gone', '--accept', 'no-such-finding']),
    stage.run(['fleet', 'check', '--contexts', 'gone', '--manifest', 'operator.yaml']),
  ])
  expect(ran.map(({ code }) => code)).toEqual([2, 2, 2])
})
