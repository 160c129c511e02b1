import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled, lockHolder } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'
import { type JobPod, nextPod, place, type PlayedPod, playPod, reportEnd } from './played-pod.ts'
import { rightsIn, roleManifests } from './roles.ts'

const image = `registry.example.com/kvup@sha256:${'0123456789abcdef'.repeat(4)}`
const account = 'system:serviceaccount:kvup-run:kvup-upgrade'
const plan = () => path.join(lab.dir, 'plan.yaml')
let lab: Lab

beforeAll(async () => {
  process.env['LAB_AUDIT_USER'] = account
  lab = await startLab({ name: 'job', operator: 'v1.8.4', imageTag: 'v1.7.0', methods: ['LiveMigrate'] })
})
afterAll(() => {
  delete process.env['LAB_AUDIT_USER']
  return lab.stop()
})

async function until(said: () => string, pattern: RegExp): Promise<void> {
  for (let tries = 0; !pattern.test(said()); tries++) {
    if (tries > 1200) throw new Error(`it never said ${pattern}:\n${said().slice(-2000)}`)
    await pause(100)
  }
}

/** How a pod is ended: by SIGTERM, or with its node, as the control plane then writes it down. */
type Death = 'deleted' | 'node-died'

/** Runs the next pod until a step of these has begun, and kills it. */
async function killAt(steps: string, death: Death, before: JobPod[]): Promise<void> {
  const pod = await nextPod(
    lab,
    before.map(({ metadata }) => metadata.uid),
  )
  before.push(pod)
  const played: PlayedPod = await playPod(lab, pod)
  await until(
    () => played.said(),
    new RegExp(`"event":"step-(?:started|waiting|done)","step":\\{"id":"(?:${steps})"`, 'u'),
  )
  expect(await lockHolder(lab)).toContain(`pod:kvup-run/${pod.metadata.name}/${pod.metadata.uid}/`)
  played.signal(death === 'deleted' ? 'SIGTERM' : 'SIGKILL')
  const code = await played.ended
  expect(code).toBe(death === 'deleted' ? 143 : 137)
  await reportEnd(lab, pod, code, death === 'node-died')
}

interface AuditEvent {
  verb: string
  requestReceivedTimestamp: string
  user: { username: string }
  objectRef?: { resource?: string; apiGroup?: string; subresource?: string; name?: string }
  responseStatus?: { code?: number }
}

async function asked(): Promise<AuditEvent[]> {
  const lines = (await readFile(path.join(lab.dir, 'log/audit.log'), 'utf8')).split('\n')
  return lines
    .filter((line) => line.endsWith('}') && line.includes(account))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user, responseStatus }) => user.username === account && (responseStatus?.code ?? 0) < 400)
}

const reads = new Set(['get', 'list', 'watch'])
const isWrite = ({ verb, objectRef }: AuditEvent) =>
  !reads.has(verb) && !(objectRef?.resource ?? '').startsWith('selfsubject')

test('a Job carries the real upgrade though its pod is killed three times; a second run writes nothing, and its rights go with it', async () => {
  expect(
    await kvup(lab, ['plan', '--to', 'v1.8.4', '--stable-for', '5s', '--to-file', plan()]),
  ).toMatchObject({ code: 0 })
  const line = ['--image', image, '--', 'upgrade', '--plan', plan(), '--yes']
  const printed = await kvup(lab, ['job', ...line])
  expect(printed.code).toBe(0)
  const applied = await kvup(lab, ['job', '--apply', '--yes', ...line])
  expect(applied).toMatchObject({ code: 0 })
  // kubectl takes what is printed, as a dry run of the server, and finds nothing to change.
  const dry = await lab.kubectl(
    ['apply', '--server-side', '--field-manager=kvup', '--dry-run=server', '-f', '-'],
    printed.stdout,
  )
  expect(dry).toContain('job.batch/kvup-upgrade')

  const pods: JobPod[] = []
  await killAt('pause-workload-updates', 'deleted', pods)
  await killAt('virt-handler', 'node-died', pods)
  await killAt('virt-controller|virt-api|healthy', 'deleted', pods)
  const last = await nextPod(
    lab,
    pods.map(({ metadata }) => metadata.uid),
  )
  const played = await playPod(lab, last)
  const code = await played.ended
  expect({ code, said: code === 0 ? '' : played.said().slice(-3000) }).toEqual({ code: 0, said: '' })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])

  const mark = (await asked()).length
  expect(await (await playPod(lab, last)).ended).toBe(0)
  expect((await asked()).slice(mark).filter(isWrite)).toEqual([])
  await reportEnd(lab, last, 0)

  const used = new Set(
    (await asked()).map(({ verb, objectRef: { resource = '', apiGroup = '', subresource = '' } = {} }) =>
      [verb, [`${resource}${subresource && `/${subresource}`}`, apiGroup].filter(Boolean).join('.')].join(
        ' ',
      ),
    ),
  )
  const unused = rightsIn(roleManifests(printed.stdout)).filter(
    ({ verb, resource }) => !used.has(`${verb} ${resource}`),
  )
  console.log(
    `rights that were not used: ${[...new Set(unused.map(({ verb, resource }) => `${verb} ${resource}`))].join(', ')}`,
  )
  // What was not used only reads: the printed role says for which case.
  expect(unused.filter(({ verb }) => !reads.has(verb))).toEqual([])

  await lab.kubectl(['wait', ...place, '--for=condition=complete', 'job/kvup-upgrade', '--timeout=60s'])
  expect((await kvup(lab, ['job', 'status'])).stdout).toContain('is done')
  expect(await kvup(lab, ['job', 'delete', '--yes'])).toMatchObject({ code: 0 })
  const left = await lab.kubectl([
    'get',
    'clusterroles,clusterrolebindings,roles,rolebindings',
    '-A',
    '-o',
    'name',
  ])
  expect(left).not.toContain('kvup-run:')
})
