import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

let stage: FleetStage
beforeAll(async () => {
  stage = await fleetStage(['prod-0', 'prod-1', 'stage-0'], () => ({ version: 'v1.7.4', vms: 1 }), 1)
  const file = join(stage.folder, 'kubeconfig')
  const config = JSON.parse(readFileSync(file, 'utf8')) as {
    clusters: { name: string; cluster: { server: string } }[]
    contexts: { name: string; context: { cluster: string; user: string } }[]
  }
  config.clusters.push({ name: 'gone', cluster: { server: 'http://127.0.0.1:1' } })
  config.contexts.push({ name: 'prod-gone', context: { cluster: 'gone', user: 'admin' } })
  config.contexts.push({ name: 'prod-again', context: { cluster: 'prod-1', user: 'admin' } })
  writeFileSync(file, JSON.stringify(config))
})
afterAll(() => stage.stop())

test('one that is gone comes first and is exit 8; two contexts of one cluster are one row, which is said', async () => {
  const ran = await stage.run(['fleet', 'status', '--contexts', 'prod-*'])
  expect(ran.code).toBe(8)
  const [head, , , first] = ran.stdout.split('\n')
  expect(head).toBe('3 clusters: 1 unreachable, 2 healthy')
  expect(first).toMatch(/^✖ unreachable +prod-gone /u)
  expect(ran.stdout).toContain('prod-again is a context of the same cluster as prod-1: looked at once')
})

test('documents: partial where one could not be read, JUnit with a suite per cluster', async () => {
  const ran = await stage.run(['fleet', 'status', '--contexts', 'prod-*', '-o', 'json'])
  const { status, items } = JSON.parse(ran.stdout) as { status: string; items: { name: string }[] }
  expect({ status, names: items.map(({ name }) => name) }).toEqual({
    status: 'partial',
    names: ['prod-gone', 'prod-0', 'prod-1'],
  })
  const junit = await stage.run(['fleet', 'status', '--contexts', 'prod-*', '-o', 'junit'])
  expect(junit.stdout.match(/<testsuite /gu)).toHaveLength(3)
  expect(junit.stdout).toContain('failures="1"')
})

test('all well: exit 0, with --exit-code as well', async () => {
  expect(await stage.run(['fleet', 'status', '--contexts', 'prod-0,stage-0', '--exit-code'])).toMatchObject({
    code: 0,
  })
})

test('no such context, no fleet, a typo in the file: exit 2 with what helps', async () => {
  const file = join(stage.folder, 'fleet.yaml')
  writeFileSync(file, 'apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n- context: prod-00\n')
  const ran = await Promise.all([
    stage.run(['fleet', 'status', '--contexts', 'nothing-*']),
    stage.run(['fleet', 'status']),
    stage.run(['fleet', 'status', '--file', 'fleet.yaml']),
  ])
  expect(ran.map(({ code }) => code)).toEqual([2, 2, 2])
  expect(ran[2].stderr).toContain('fleet.yaml:4: no kubeconfig has a context "prod-00"')
})
