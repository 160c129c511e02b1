import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Entry } from '../../src/lib/engine/journal.ts'
import type { FleetReport } from '../../src/lib/fleet/fleet-report.ts'
import { ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { type FleetCluster, serveFleet } from '../bench/serve-fleet.ts'
import { expectRolled } from './installation.ts'
import { kvup, startKvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

/** What kvup wrote in a cluster, by the audit log of its API server. */
interface Write {
  at: Date
  object: string
}

interface Member {
  name: string
  wave: number
  writes(): Promise<readonly Write[]>
  journal(): Promise<readonly Entry[]>
}

/** Real upgrades are one at a time: the canary, and one in each wave. The simulated ones run so many times as fast. */
const speed = 3
const realNames = ['real-0', 'real-1', 'real-2']
const simulatedNames = Array.from({ length: 20 }, (_, index) => `simulated-${index}`)
const waveOf = (name: string): number =>
  realNames.includes(name) ? realNames.indexOf(name) : simulatedNames.indexOf(name) < 10 ? 1 : 2
const soakSeconds = 5
const line = [
  'fleet',
  'upgrade',
  '--plan',
  'fleet-plan.yaml',
  '--yes',
  ...'--parallel 6 --cluster-timeout 60s'.split(' '),
]
/** Where three control planes share two cores an answer may take its time. */
const patience = { KVUP_REQUEST_TIMEOUT: '2m' }

let labs: readonly Lab[] = []
let simulated: readonly FleetCluster[] = []
let members: readonly Member[] = []
/** A folder on each of two machines: kubeconfigs and the plan. */
let here = ''
let there = ''

beforeAll(async () => {
  const root = process.env['KVUP_LAB_ROOT'] ?? tmpdir()
  here = await mkdtemp(path.join(root, 'fleet-here-'))
  there = await mkdtemp(path.join(root, 'fleet-there-'))
  const shape = { version: 'v1.7.0', operator: 'v1.8.4', method: 'image-tag', vms: 1 } as const
  const kubeconfig = path.join(here, 'simulated.kubeconfig')
  simulated = await serveFleet(simulatedNames, { kubeconfig, speed, shapeOf: () => shape })
  const started = await Promise.allSettled(
    realNames.map((name) =>
      startLab({ name, workers: 1, operator: 'v1.8.4', imageTag: 'v1.7.0', methods: ['LiveMigrate'] }),
    ),
  )
  labs = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  for (const one of started) if (one.status === 'rejected') throw one.reason
  await writeFile(path.join(here, 'real.kubeconfig'), await merged(labs))
  await writeFile(path.join(here, 'fleet.yaml'), fleetFile())
  members = [
    ...labs.map((lab, index) => realMember(`real-${index}`, lab)),
    ...simulated.map((one) => simulatedMember(one)),
  ]
})
afterAll(async () => {
  await Promise.all([...labs, ...simulated].map((one) => one.stop()))
  await Promise.all([here, there].map((folder) => rm(folder, { recursive: true, force: true })))
})

interface Kubeconfig {
  clusters: { name: string; cluster: object }[]
  users: { name: string; user: object }[]
}

/** One kubeconfig with a context for each. */
async function merged(all: readonly Lab[]): Promise<string> {
  const each = await Promise.all(
    all.map(async ({ kubeconfig }, index) => {
      const { clusters, users } = JSON.parse(await readFile(kubeconfig, 'utf8')) as Kubeconfig
      const name = realNames[index] ?? ''
      return {
        clusters: [{ ...clusters[0], name }],
        users: [{ ...users[0], name }],
        contexts: [{ name, context: { cluster: name, user: name } }],
      }
    }),
  )
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: each.flatMap(({ clusters }) => clusters),
    users: each.flatMap(({ users }) => users),
    contexts: each.flatMap(({ contexts }) => contexts),
  })
}

const fleetFile = (): string =>
  [
    'apiVersion: kvup.io/v1alpha1',
    'kind: Fleet',
    'clusters:',
    ...[...realNames, ...simulatedNames].flatMap((name) => [
      `- context: ${name}`,
      `  kubeconfig: ${realNames.includes(name) ? 'real' : 'simulated'}.kubeconfig`,
      waveOf(name) === 0 ? '  canary: true' : `  wave: ${waveOf(name)}`,
    ]),
    '',
  ].join('\n')

const entriesIn = (text: string): readonly Entry[] =>
  text
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => JSON.parse(one) as Entry)

function realMember(name: string, lab: Lab): Member {
  return {
    name,
    wave: waveOf(name),
    async writes() {
      const all = await lab.auditWrites({ userAgent: 'kvup/' })
      return all.filter(({ code }) => code < 400).map(({ at, object }) => ({ at: new Date(at), object }))
    },
    async journal() {
      const place = ['-n', 'kubevirt', 'configmap', 'kvup-journal']
      const { data } = await lab.object<{ data: { entries: string } }>('get', ...place)
      return entriesIn(data.entries)
    },
  }
}

function simulatedMember({ name, cluster: { store }, ...one }: FleetCluster): Member {
  return {
    name,
    wave: waveOf(name),
    writes: async () =>
      store.audit
        .filter((record) => record.userAgent.startsWith('kvup/') && isWrite(record))
        .map(({ at, resource, name: object = '' }) => ({
          at: one.wallTime(at),
          object: `${resource}/${object}`,
        })),
    async journal() {
      const found = store.read(ConfigMaps, { name: 'kvup-journal', namespace: 'kubevirt' })
      return entriesIn((found as { data?: { entries?: string } } | undefined)?.data?.entries ?? '')
    },
  }
}

const onMachine = (folder: string, host: string, env = {}) => ({
  cwd: folder,
  host,
  env: { HOME: folder, ...patience, ...env },
})
const run = (args: readonly string[], env = {}) => kvup(labs[0]!, args, onMachine(here, 'here', env))

async function killedOnce(pattern: RegExp): Promise<void> {
  const live = startKvup(labs[0]!, line, onMachine(here, 'here'))
  await live.line(pattern)
  // In the middle of it: what was changed rolls out.
  await pause(4000)
  live.signal('SIGKILL')
  expect(await live.ended).toMatchObject({ code: 137 })
}

const written = (all: readonly Member[]) =>
  Promise.all(all.map(async (one) => ({ name: one.name, writes: (await one.writes()).length })))

/** From its first write to the one by which its journal says that its upgrade is finished; the last one says that the fleet run is over. */
async function spanOf(member: Member): Promise<{ begun: number; done: number }> {
  const writes = await member.writes()
  const journal = writes.filter(({ object }) => object === 'configmaps/kvup-journal')
  return { begun: writes[0]?.at.getTime() ?? NaN, done: journal.at(-2)?.at.getTime() ?? NaN }
}

const byName = (one: { name: string }, other: { name: string }): number => one.name.localeCompare(other.name)

const began = Date.now()
const tell = (what: string) =>
  process.stdout.write(`fleet: ${what} after ${((Date.now() - began) / 1000).toFixed(0)} s\n`)

test('the canary cannot pull its images: it fails, and nothing else is touched', async () => {
  tell('the clusters are there')
  const planned = await run([
    ...'fleet plan --file fleet.yaml --to v1.8.4 --method image-tag --stable-for 5s'.split(' '),
    '--soak',
    `${soakSeconds}s`,
    '--to-file',
    'fleet-plan.yaml',
  ])
  expect({ code: planned.code, said: planned.stderr }).toMatchObject({ code: 0 })
  await cp(here, there, { recursive: true })
  expect((await written(members)).filter(({ writes }) => writes > 0)).toEqual([])
  tell('the plan is sealed')

  await labs[0]!.pullable('v1.7.0')
  const failed = await run(line, { KVUP_TIMEOUT: '45s' })
  expect({ code: failed.code, said: failed.stderr }).toMatchObject({ code: 4 })
  expect(failed.stderr).toContain('the canary failed on real-0')
  expect(failed.stderr).toContain('virt-operator:v1.8.4')
  const touched = (await written(members)).filter(({ writes }) => writes > 0)
  expect(touched.map(({ name }) => name)).toEqual(['real-0'])
  tell('the canary failed')
})

test('its cause is mended: the same line goes on, is killed in each of two waves, and another machine ends it', async () => {
  await labs[0]!.pullable('v1.7.0', 'v1.8.4')
  await killedOnce(/^real-1: /u)
  tell('killed in wave 1')
  await killedOnce(/^real-2: /u)
  tell('killed in wave 2')
  const ended = await kvup(labs[0]!, [...line, '-o', 'json'], onMachine(there, 'there'))
  expect({ code: ended.code, said: ended.stderr }).toMatchObject({ code: 0 })
  tell('another machine ended it')

  const { fleet, items } = JSON.parse(ended.stdout) as FleetReport
  expect(items.map(({ name, wave }) => ({ name, wave })).toSorted(byName)).toEqual(
    members.map(({ name, wave }) => ({ name, wave })).toSorted(byName),
  )
  for (const lab of labs) await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
  const shown = await run(['fleet', 'status', '--file', 'fleet.yaml', '-o', 'json', '--exit-code'])
  expect({ code: shown.code, said: shown.stderr }).toMatchObject({ code: 0 })
  const rows = (JSON.parse(shown.stdout) as { items: { version: string; state: string }[] }).items
  expect(rows.map(({ version, state }) => `${version} ${state}`)).toEqual(members.map(() => 'v1.8.4 Healthy'))

  // Each was upgraded once, in its wave.
  for (const member of members) {
    const journal = await member.journal()
    const own = journal.filter((entry) => entry.fleet?.uid === fleet)
    const finished = own.filter(({ what, text }) => what === 'finished' && !text.startsWith('incomplete'))
    expect({ name: member.name, finished: finished.map((entry) => entry.fleet?.wave) }).toEqual({
      name: member.name,
      finished: [member.wave],
    })
    expect(own.at(-1)).toMatchObject({ what: 'closed', fleet: { over: true } })
  }
  // No wave began before the one before it was done and had soaked.
  const spans = await Promise.all(
    members.map(async (member) => Object.assign(await spanOf(member), { wave: member.wave })),
  )
  for (const wave of [1, 2]) {
    const done = Math.max(...spans.filter((one) => one.wave < wave).map((one) => one.done))
    const begun = Math.min(...spans.filter((one) => one.wave === wave).map((one) => one.begun))
    expect(begun - done).toBeGreaterThanOrEqual(soakSeconds * 1000 - 1000)
  }
})

test('the same line has nothing left to do, and writes nothing', async () => {
  const before = await written(members)
  const again = await run(line)
  expect({ code: again.code, said: again.stderr }).toMatchObject({ code: 0 })
  expect(await written(members)).toEqual(before)
  tell('a repeat wrote nothing')
})
