import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type ConfigMap, Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import { ClusterRoleBindings } from '../../src/lib/kube/kinds/extension-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import {
  create,
  created,
  deleteByLastLine,
  image,
  kinds,
  nextPod,
  objectsIn,
  place,
  typed,
} from './job-stage.ts'
import { play, type Stage } from './stage.ts'

const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 } as const
const line = ['upgrade', '--plan', 'plan.yaml', '--yes']
const job = (...words: readonly string[]) => ['job', '--image', image, ...words, '--', ...line]

const planned = (stage: Stage) => typed(stage, ['plan', '--to', 'v1.8.4', '--to-file', 'plan.yaml'])

test('what is printed the API server takes, all of it new', async () => {
  await play(shape, async (stage) => {
    await planned(stage)
    const printed = await typed(stage, job())
    expect(printed.code).toBe(0)
    const objects = objectsIn(printed.out)
    expect(objects.map(({ kind }) => kind)).toEqual([
      'Namespace',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
      'Role',
      'RoleBinding',
      'ConfigMap',
      'Job',
    ])
    expect(stage.writes()).toEqual([])
    await create(stage, printed.out)
    const { binaryData = {} } = objects.find(({ kind }) => kind === 'ConfigMap') as ConfigMap
    const [[sha256, gzip] = ['', '']] = Object.entries(binaryData)
    expect(gunzipSync(Buffer.from(gzip, 'base64')).toString()).toBe(stage.files.get('plan.yaml'))
    const golden = printed.out
      .replaceAll(sha256, 'SHA256')
      .replaceAll(sha256.slice(0, 12), 'SHA')
      .replace(gzip, 'GZIP')
    await expect(golden).toMatchFileSnapshot('../commands/golden/job-upgrade.txt')
    // It names no user and no group: any restricted policy takes it.
    expect(golden).not.toMatch(/runAs(?:User|Group)|fsGroup|privileged: true|host(?:Path|Network|PID)/u)
  })
})

const idOf = ({ kind, metadata: { name, namespace = '' } }: KubeObject): string =>
  `${kind} ${namespace}/${name}`

/** Lines of each kind that a Job runs, with the role of each. */
const lines: readonly (readonly string[])[] = [
  line,
  ['eus', 'run', '--to', '4.20', '--yes'],
  ['workloads', 'update', '--yes'],
]
const twoRoles = ['--namespace-of-kubevirt', 'kubevirt', '--namespace-of-catalog', 'marketplace']

test.each(lines.map((words) => [words.join(' '), words]))(
  '%s: each name ends with what is random, each namespace that is not its own stays, each object has the label of this run alone',
  async (_, words) => {
    await play(shape, async (stage) => {
      await planned(stage)
      const printed = async (suffix: string, ...more: readonly string[]) => {
        const { out, code } = await typed(
          stage,
          ['job', '--image', image, ...twoRoles, ...more, '--', ...words],
          { suffix },
        )
        expect(code).toBe(0)
        return objectsIn(out)
      }
      const [some, others] = [await printed('aaaaaaaa'), await printed('bbbbbbbb')]
      expect(some.map(idOf).filter((id) => others.map(idOf).includes(id))).toEqual([])
      const [home] = some
      for (const object of some) {
        expect(idOf(object)).toContain('aaaaaaaa')
        expect(object.metadata.labels?.['kvup.io/job']).toMatch(/-aaaaaaaa$/u)
        const { subjects = [] } = object as { subjects?: { namespace: string; name: string }[] }
        for (const { namespace, name } of subjects) {
          expect(namespace).toBe(home?.metadata.name)
          expect(name).toMatch(/-aaaaaaaa$/u)
        }
      }
      // A name that a person chooses is no way around it.
      const named = await printed('cccccccc', '--job-namespace', 'tenant', '--name', 'kvup-upgrade')
      expect(named[0]).toMatchObject({ kind: 'Namespace', metadata: { name: 'tenant-cccccccc' } })
    })
  },
)

test('its last line deletes all of it, also while it runs, and nothing else: not what is called alike, not another Job', async () => {
  await play(shape, async (stage) => {
    const { store } = stage.simulated
    const all = () => kinds.flatMap((kind) => store.list(kind).items.map(idOf)).toSorted()
    const before = new Set([...all(), 'ConfigMap kubevirt/kvup-journal'])
    const printed = await created(stage, 'v1.8.4')
    await nextPod(stage)
    const other = await typed(stage, job(), { suffix: '99999999' })
    await create(stage, other.out)
    const labels = { 'app.kubernetes.io/managed-by': 'kvup', 'kvup.io/job': 'kvup-upgrade' }
    const alike = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kvup-run', labels } }
    await stage.cluster.writer.create(Namespaces, alike)
    await deleteByLastLine(stage, printed.out)
    const left = all().filter((id) => !before.has(id))
    expect(left).toEqual(['Namespace /kvup-run', ...objectsIn(other.out).map(idOf)].toSorted())
    await deleteByLastLine(stage, other.out)
    expect(all().filter((id) => !before.has(id))).toEqual(['Namespace /kvup-run'])
    expect(store.read(ClusterRoleBindings, { name: `kvup-job:${place.name}` })).toBeUndefined()
  })
})

const refusals = [
  ['job -- LINE', 'image-missing', 'skopeo inspect'],
  ['job --image quay.io/kvup:v1 -- LINE', 'image-not-pinned', 'docker://quay.io/kvup:v1'],
  ['JOB', 'no-line', 'upgrade --plan plan.yaml'],
  ['JOB -- check', 'line-not-for-job', 'upgrade'],
  ['JOB -- upgrade --tu v1.8.4', 'line-not-read', '--tu'],
  ['JOB -- upgrade --to v1.8.4', 'line-asks', '--to v1.8.4 --yes'],
  ['JOB -- upgrade --yes', 'line-asks', '--plan plan.yaml'],
  ['JOB -- LINE --context prod', 'line-names-cluster', 'move --context'],
  ['JOB -- LINE -o json', 'line-output', 'ndjson'],
  ['JOB -- upgrade --to v1.8.4 --yes --dry-run=client', 'line-not-for-job', 'here'],
  ['JOB -- upgrade --plan none.yaml --yes', 'plan-missing', 'the file does not exist'],
  ['JOB -- upgrade --to v1.8.4 --yes --manifest none.yaml', 'file-missing', 'none.yaml'],
  ['JOB -- upgrade --to v1.8.4 --yes --manifest -', 'line-reads-stdin', 'standard input'],
  ['JOB --name A -- LINE', 'not-a-name', 'lower-case'],
] as const

test('refused, exit 2: no pinned image, no line for a Job, a line that asks, names a cluster, or lacks a file', async () => {
  await play(shape, async (stage) => {
    await planned(stage)
    for (const [typedLine, reason, helps] of refusals) {
      const [first = '', ...words] = typedLine
        .replace('JOB', `job --image ${image}`)
        .replace('LINE', line.join(' '))
        .split(' ')
      const { code, out } = await typed(stage, [first, '-o', 'json', ...words])
      const { error } = JSON.parse(out) as { error: { reason: string } }
      expect({ typedLine, code, reason: error.reason }).toEqual({ typedLine, code: 2, reason })
      expect(out).toContain(helps)
    }
    expect(stage.writes()).toEqual([])
  })
})

test('a plan that is too large for a ConfigMap is refused with its size', async () => {
  await play(shape, async (stage) => {
    stage.files.set('big.yaml', randomBytes(1_300_000).toString('base64'))
    const words = ['upgrade', '--to', 'v1.8.4', '--yes', '--manifest', 'big.yaml']
    const { code, err } = await typed(stage, ['job', '--image', image, '--', ...words])
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/has 1\.\d MiB when compressed/u) as string,
    })
  })
})

test('a cluster without KubeVirt, and one that may not be asked for it', async () => {
  await play(shape, async (stage) => {
    await planned(stage)
    const nobody = stage.simulated.cluster({ user: 'nobody', groups: ['system:authenticated'] })
    expect(await typed(stage, job(), { cluster: nobody })).toMatchObject({ code: 7 })
    const offline = await typed(stage, job('--namespace-of-kubevirt', 'kubevirt'), { cluster: nobody })
    expect(offline).toMatchObject({ code: 0, out: expect.stringContaining('kind: Job') as string })
  })
})
