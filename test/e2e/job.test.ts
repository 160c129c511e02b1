import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled, lockHolder } from './installation.ts'
import { kvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'
import { type JobPod, nextPod, type PlayedPod, playPod, reportEnd } from './played-pod.ts'
import { rightsIn, roleManifests } from './roles.ts'

const image = `registry.example.com/kvup@sha256:${'0123456789abcdef'.repeat(4)}`
/** The audit log has to know the account before there is one: here the suffix is this one, in place of the random one. */
const suffix = 'e2e0e2e0'
const name = `kvup-upgrade-${suffix}`
const home = `kvup-run-${suffix}`
const account = `system:serviceaccount:${home}:${name}`
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
    home,
    before.map(({ metadata }) => metadata.uid),
  )
  before.push(pod)
  const played: PlayedPod = await playPod(lab, pod)
  await until(
    () => played.said(),
    new RegExp(`"event":"step-(?:started|waiting|done)","step":\\{"id":"(?:${steps})"`, 'u'),
  )
  expect(await lockHolder(lab)).toContain(`pod:${home}/${pod.metadata.name}/${pod.metadata.uid}/`)
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
  const line = ['upgrade', '--plan', plan(), '--yes']
  const { code: printing, stdout } = await kvup(lab, ['job', '--image', image, '--', ...line])
  expect(printing).toBe(0)
  const [, random = ''] = /name: kvup-run-(\w{8})$/mu.exec(stdout) ?? []
  expect(random).not.toBe('')
  const printed = stdout.replaceAll(random, suffix)
  expect(await lab.kubectl(['create', '-f', '-'], printed)).toContain(`job.batch/${name}`)
  // A second time it meets what exists, and makes nothing.
  await expect(lab.kubectl(['create', '-f', '-'], printed)).rejects.toThrow('AlreadyExists')

  const pods: JobPod[] = []
  await killAt('pause-workload-updates', 'deleted', pods)
  await killAt('virt-handler', 'node-died', pods)
  await killAt('virt-controller|virt-api|healthy', 'deleted', pods)
  const last = await nextPod(
    lab,
    home,
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
  const unused = rightsIn(roleManifests(printed)).filter(
    ({ verb, resource }) => !used.has(`${verb} ${resource}`),
  )
  console.log(
    `rights that were not used: ${[...new Set(unused.map(({ verb, resource }) => `${verb} ${resource}`))].join(', ')}`,
  )
  // What was not used only reads: the printed role says for which case.
  expect(unused.filter(({ verb }) => !reads.has(verb))).toEqual([])

  await lab.kubectl(['wait', '-n', home, '--for=condition=complete', `job/${name}`, '--timeout=60s'])
  const [, ...words] = (printed.trimEnd().split('\n').at(-1) ?? '').replace('# ', '').split(' ')
  expect(await lab.kubectl(words)).toContain(`namespace "${home}" deleted`)
  const kinds = 'namespaces,jobs,serviceaccounts,clusterroles,clusterrolebindings,roles,rolebindings'
  expect(await lab.kubectl(['get', kinds, '-A', '-o', 'name'])).not.toContain(suffix)
})
