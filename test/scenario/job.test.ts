import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'
import { expect, test } from 'vitest'
import { jobKinds } from '../../src/lib/job/job-objects.ts'
import { type ConfigMap, Namespaces } from '../../src/lib/kube/kinds/core-kinds.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
} from '../../src/lib/kube/kinds/extension-kinds.ts'
import { Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { Kind, KubeObject } from '../../src/lib/kube/object.ts'
import { applied, cronJobOf, end, image, jobOf, nextPod, place, typed } from './job-stage.ts'
import { play, type Stage } from './stage.ts'

const shape = { version: 'v1.7.4', operator: 'v1.8.4', method: 'image-tag', vms: 1 } as const
const line = ['upgrade', '--plan', 'plan.yaml', '--yes']
const job = (...words: readonly string[]) => ['job', '--image', image, ...words, '--', ...line]

const planned = (stage: Stage) => typed(stage, ['plan', '--to', 'v1.8.4', '--to-file', 'plan.yaml'])

test('what is printed is what is applied, and the API server takes it as a dry run', async () => {
  await play(shape, async (stage) => {
    await planned(stage)
    const printed = await typed(stage, job())
    expect(printed.code).toBe(0)
    const objects = parseAllDocuments(printed.out).map((document) => document.toJS() as KubeObject)
    const kinds = objects.map(({ kind }) => kind)
    expect(kinds).toEqual([
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
    await stage.cluster.writer.apply(Namespaces, objects[0] as KubeObject)
    for (const object of objects) await stage.cluster.reviewer.dryRun.apply(kindOf(object), object)
    expect(stage.simulated.store.list(ClusterRoles).items.filter(isOfJob)).toEqual([])
    const { binaryData = {} } = objects.find(({ kind }) => kind === 'ConfigMap') as ConfigMap
    const [[sha256, gzip] = ['', '']] = Object.entries(binaryData)
    expect(gunzipSync(Buffer.from(gzip, 'base64')).toString()).toBe(stage.files.get('plan.yaml'))
    const golden = printed.out
      .replaceAll(sha256, 'SHA256')
      .replaceAll(sha256.slice(0, 12), 'SHA')
      .replace(gzip, 'GZIP')
    await expect(golden).toMatchFileSnapshot('../commands/golden/job-upgrade.txt')
  })
})

const kindOf = ({ kind }: KubeObject) => jobKinds.find((one) => one.kind === kind) as Kind

const isOfJob = ({ metadata: { name } }: KubeObject): boolean => name.startsWith('kvup-run:')

test('applied twice it is the same; another line of that name is refused; deleted, nothing of it is left but the journal', async () => {
  await play(shape, async (stage) => {
    expect(await applied(stage, 'v1.8.4')).toMatchObject({ code: 0 })
    const again = await typed(stage, job('--apply'))
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('is there already') as string })
    const other = await typed(stage, [
      'job',
      '--apply',
      '--image',
      image,
      '--',
      'upgrade',
      '--to',
      'v1.8.4',
      '--yes',
    ])
    expect(other).toMatchObject({ code: 3, err: expect.stringContaining('kvup job delete') as string })
    const pod = await nextPod(stage)
    const status = await typed(stage, ['job', 'status', '-o', 'json'])
    expect(JSON.parse(status.out)).toMatchObject({ state: 'running', pods: [{ name: pod.metadata.name }] })
    expect(await typed(stage, ['job', 'delete', '--yes'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('--accept job-running') as string,
    })
    await end(stage, pod, 0)
    await stage.until(1000)
    expect((await typed(stage, ['job', 'status'])).out).toContain('is done')
    expect(await typed(stage, ['job', 'delete', '--yes'])).toMatchObject({ code: 0 })
    const { store } = stage.simulated
    const left = [ClusterRoles, ClusterRoleBindings, Roles, RoleBindings].flatMap((kind: Kind) =>
      store.list(kind).items.filter(isOfJob),
    )
    expect(left).toEqual([])
    expect(store.read(Namespaces, { name: 'kvup-run' })).toBeDefined()
    expect((await typed(stage, ['job', 'status'])).code).toBe(3)
  })
})

test('what bears the label of a Job and another name is left alone', async () => {
  await play(shape, async (stage) => {
    await applied(stage, 'v1.8.4')
    const labels = jobOf(stage).metadata.labels ?? {}
    const binding = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'of-somebody-else', labels },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [],
    }
    await stage.cluster.writer.create(ClusterRoleBindings, binding)
    expect(await typed(stage, ['job', 'delete', '--yes', '--accept', 'job-running'])).toMatchObject({
      code: 0,
    })
    expect(stage.simulated.store.read(ClusterRoleBindings, { name: 'of-somebody-else' })).toBeDefined()
  })
})

test('a sealed plan with a schedule is a CronJob that never runs twice at a time', async () => {
  await play(shape, async (stage) => {
    await planned(stage)
    const made = await typed(
      stage,
      job('--apply', '--schedule', '0 22 * * 6', '--time-zone', 'Europe/Prague'),
    )
    expect(made.code).toBe(0)
    expect(cronJobOf(stage)?.spec).toMatchObject({
      schedule: '0 22 * * 6',
      timeZone: 'Europe/Prague',
      concurrencyPolicy: 'Forbid',
    })
    expect((await typed(stage, ['job', 'status'])).out).toContain('is scheduled: it begins at 0 22 * * 6')
    expect(await typed(stage, ['job', 'delete', '--yes'])).toMatchObject({ code: 0 })
    expect(cronJobOf(stage)).toBeUndefined()
    const other = ['--name', 'other', '--job-namespace', 'kvup-other']
    expect((await typed(stage, job('--apply', ...other))).code).toBe(0)
    expect((await typed(stage, ['job', 'status', ...other])).out).toContain(
      'Job other in namespace kvup-other',
    )
    expect((await typed(stage, ['job', ...other, 'status'])).code).toBe(0)
    expect((await typed(stage, ['job', 'status'])).code).toBe(3)
  })
})

test.each([
  ['no image', ['job', '--', ...line], 'image-missing', 'skopeo inspect'],
  [
    'a tag',
    ['job', '--image', 'quay.io/kvup:v1', '--', ...line],
    'image-not-pinned',
    'docker://quay.io/kvup:v1',
  ],
  ['no line', ['job', '--image', image], 'no-line', 'upgrade --plan plan.yaml'],
  ['a line that only reads', ['job', '--image', image, '--', 'check'], 'line-not-for-job', 'upgrade'],
  [
    'flags that make a Job before what looks after one',
    ['job', '--image', image, '--', 'status'],
    'contradiction',
    'no Job runs status: a Job runs upgrade, eus run or workloads update',
  ],
  [
    'a line that kvup does not know',
    ['job', '--image', image, '--', 'upgrade', '--tu', 'v1.8.4'],
    'line-not-read',
    '--tu',
  ],
  [
    'a question',
    ['job', '--image', image, '--', 'upgrade', '--to', 'v1.8.4'],
    'line-asks',
    '--to v1.8.4 --yes',
  ],
  ['no target', ['job', '--image', image, '--', 'upgrade', '--yes'], 'line-asks', '--plan plan.yaml'],
  [
    'a context',
    ['job', '--image', image, '--', ...line, '--context', 'prod'],
    'line-names-cluster',
    'move --context',
  ],
  ['another output', ['job', '--image', image, '--', ...line, '-o', 'json'], 'line-output', 'ndjson'],
  [
    'a dry run',
    ['job', '--image', image, '--', 'upgrade', '--to', 'v1.8.4', '--yes', '--dry-run=client'],
    'line-not-for-job',
    'here',
  ],
  [
    'a file that is missing',
    ['job', '--image', image, '--', 'upgrade', '--plan', 'none.yaml', '--yes'],
    'plan-missing',
    'cannot read the plan none.yaml: the file does not exist',
  ],
  [
    'a manifest that is missing',
    ['job', '--image', image, '--', 'upgrade', '--to', 'v1.8.4', '--yes', '--manifest', 'none.yaml'],
    'file-missing',
    'none.yaml',
  ],
  [
    'standard input',
    ['job', '--image', image, '--', 'upgrade', '--to', 'v1.8.4', '--yes', '--manifest', '-'],
    'line-reads-stdin',
    'standard input',
  ],
  [
    'a schedule without a plan',
    ['job', '--image', image, '--schedule', '0 22 * * 6', '--', 'upgrade', '--to', 'v1.8.4', '--yes'],
    'schedule-without-plan',
    '--plan FILE',
  ],
  [
    'a time of day as a schedule',
    ['job', '--image', image, '--schedule', '22:00', '--', ...line],
    'schedule',
    '0 22 * * 6',
  ],
  [
    'a name of two words',
    ['job', '--image', image, '--name', 'a b', '--', ...line],
    'not-a-name',
    'lower-case',
  ],
] as const)('refused, exit 2: %s', async (_, words, reason, helps) => {
  await play(shape, async (stage) => {
    await planned(stage)
    const { code, out } = await typed(stage, [...words.slice(0, 1), '-o', 'json', ...words.slice(1)])
    const { error } = JSON.parse(out) as { error: { reason: string } }
    expect({ code, reason: error.reason }).toEqual({ code: 2, reason })
    expect(out).toContain(helps)
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

test('a namespace that kvup did not make is refused', async () => {
  await play(shape, async (stage) => {
    await stage.cluster.writer.create(Namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'kvup-run' },
    })
    const ran = await applied(stage, 'v1.8.4')
    expect(ran).toMatchObject({ code: 3, err: expect.stringContaining('--job-namespace') as string })
    expect(stage.writes().filter(({ resource }) => resource !== 'namespaces')).toEqual([])
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

test('a node that dies is told by the conditions of its pod, and a pod that ended by its code', async () => {
  await play(shape, async (stage) => {
    await applied(stage, 'v1.8.4')
    const pod = await nextPod(stage)
    const { writer } = stage.cluster
    const at = stage.clock.now().toISOString()
    const running = { name: 'kvup', ready: false, state: { running: { startedAt: at } } }
    const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime: at }] as const
    await writer.mergePatch(
      Pods,
      pod.metadata,
      { status: { phase: 'Running', conditions: [...conditions], containerStatuses: [running] } },
      'status',
    )
    const lost = await typed(stage, ['job', 'status', '-o', 'json'])
    expect(JSON.parse(lost.out)).toMatchObject({
      state: 'node-lost',
      why: expect.stringMatching(/^node \S+ no longer answers since /u) as string,
    })
    await end(stage, pod, 4)
    const retried = await typed(stage, ['job', 'status'])
    expect(retried.out).toContain('ended with exit 4 (timedOut); another one continues')
  })
})

test('logs are of the newest pod, and of no pod that is not of the Job', async () => {
  await play(shape, async (stage) => {
    await applied(stage, 'v1.8.4')
    await nextPod(stage)
    expect(await typed(stage, ['job', 'logs', '--tail', '5'])).toMatchObject({ code: 0 })
    expect(await typed(stage, ['job', 'logs', '--pod', 'virt-api'])).toMatchObject({ code: 2 })
    expect(await typed(stage, ['job', 'logs', '--tail', 'all'])).toMatchObject({ code: 2 })
  })
})

test('the golden manifest names no user and no group: any restricted policy takes it', () => {
  const golden = readFileSync(new URL('../commands/golden/job-upgrade.txt', import.meta.url), 'utf8')
  expect(golden).not.toMatch(/runAs(?:User|Group)|fsGroup|privileged: true|host(?:Path|Network|PID)/u)
  expect(place.namespace).toBe('kvup-run')
})
