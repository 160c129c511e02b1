import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type FleetStage, fleetStage } from './fleet-stage.ts'

const shape = () => ({ version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 }) as const
const names = ['east', 'west'] as const
let stage: FleetStage

/** As an installer leaves them: a kubeconfig for each cluster, and each calls its context the same. */
beforeAll(async () => {
  stage = await fleetStage(names, shape, 1)
  const { clusters, users } = JSON.parse(readFileSync(join(stage.folder, 'kubeconfig'), 'utf8')) as {
    clusters: { name: string }[]
    users: { name: string }[]
  }
  const folder = join(stage.folder, 'clusters')
  mkdirSync(folder)
  for (const name of names)
    writeFileSync(
      join(folder, name),
      JSON.stringify({
        clusters: clusters.filter((one) => one.name === name),
        users,
        contexts: [{ name: 'admin', context: { cluster: name, user: users[0]?.name } }],
      }),
    )
  const lines = names.map((name) => `- name: ${name}\n  context: admin\n  kubeconfig: ${name}\n`)
  writeFileSync(
    join(folder, 'fleet.yaml'),
    `apiVersion: kvup.io/v1alpha1\nkind: Fleet\nclusters:\n${lines.join('')}`,
  )
})
afterAll(() => stage.stop())

test('clusters whose contexts have one name: each line names the kubeconfig of its cluster, wherever it is printed', async () => {
  const plan = 'fleet plan --file clusters/fleet.yaml --to v1.8.4 --method image-tag --to-folder plans'
  const { stdout } = await stage.run([...plan.split(' '), '-o', 'json'])
  const { clusters, next } = JSON.parse(stdout) as { clusters: { next: string }[]; next: string[] }
  const lines = stage.clusters.map(
    ({ name, uid }) => `kvup upgrade --kubeconfig clusters/${name} --context admin --plan plans/${uid}.yaml`,
  )
  expect(clusters.map((one) => one.next)).toEqual(lines)
  expect(next[0]).toContain(lines[0])
  const { writer } = stage.cluster('east').cluster.cluster()
  const changed = { spec: { imageTag: 'v1.8.3' } } as never
  await writer.mergePatch(KubeVirts, { name: 'kubevirt', namespace: 'kubevirt' }, changed)
  const status = await stage.run('fleet status --file clusters/fleet.yaml'.split(' '))
  expect(status.stdout).toContain('→ kvup status --kubeconfig clusters/east --context admin ')
})
