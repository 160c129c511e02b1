import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HistoryDocument } from '../../src/lib/output/views/history.ts'
import { expectRolled } from './installation.ts'
import { kvup, startKvup } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

let lab: Lab
let watcher: { stop(): void; calls(): Promise<readonly Call[]> }

/** A line of `lab/availability.mjs`. */
interface Call {
  sent: number
  ended: number
  ok: boolean
}

function watchVirtApi(): typeof watcher {
  const file = path.join(lab.dir, 'log', 'availability.ndjson')
  const program = path.join(import.meta.dirname, 'lab/availability.mjs')
  const child = spawn(process.execPath, [program, lab.dir, file], { stdio: ['ignore', 'ignore', 'inherit'] })
  return {
    stop: () => void child.kill(),
    calls: async () => {
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith('}'))
      return lines.map((line) => JSON.parse(line) as Call)
    },
  }
}

/** Seconds without an answer, from when the first call that failed was sent to when one was answered. */
function secondsAway(calls: readonly Call[], from: number, to: number): number {
  let ms = 0
  let since: number | undefined
  for (const { sent, ended, ok } of calls) {
    if (!ok && sent >= from && sent <= to) since ??= sent
    if (!ok || since === undefined) continue
    ms += Math.min(ended, to) - since
    since = undefined
  }
  return (ms + (since === undefined ? 0 : to - since)) / 1000
}

/** Of the process that answers for virt-api: the lab's kubelet wrote down which it started. */
async function pidOfVirtApi(): Promise<number> {
  const log = await readFile(path.join(lab.dir, 'log/kubelet.log'), 'utf8')
  const started = [...log.matchAll(/ start (virt-api-\S+) \S+ (\d+) /gu)]
  const running = started.findLast(
    ([, pod]) => !log.includes(` exit ${pod} `) && !log.includes(` stop ${pod} `),
  )
  return Number(running?.[2])
}

interface AuditEvent {
  requestURI: string
  requestReceivedTimestamp: string
  userAgent?: string
}

/** What kvup asked the API server between both times: reads stand in the log because of LAB_AUDIT_USER. */
async function askedByKvup(from: number, to: number): Promise<readonly string[]> {
  const lines = (await readFile(path.join(lab.dir, 'log/audit.log'), 'utf8')).split('\n')
  return lines
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ userAgent = '', requestReceivedTimestamp }) => {
      const at = Date.parse(requestReceivedTimestamp)
      return userAgent.startsWith('kvup/') && at >= from && at <= to
    })
    .map(({ requestURI }) => requestURI)
}

const probes: Readonly<Record<string, RegExp>> = {
  create: /\/namespaces\/kubevirt\/virtualmachines\?.*dryRun=All/u,
  list: /\/virtualmachineinstances\?.*limit=1(?:&|$)/u,
  get: /\/virtualmachineinstances\/kvup-measure$/u,
  subresource: /^\/apis\/subresources\.kubevirt\.io\/v1\/version$/u,
  discovery: /^\/apis\/subresources\.kubevirt\.io\/v1$/u,
}

/** Of each probe: calls a minute between both times. */
async function callsAMinute(from: number, to: number): Promise<Record<string, number>> {
  const asked = await askedByKvup(from, to)
  const counts = Object.entries(probes).map(([name, uri]) => [
    name,
    asked.filter((one) => uri.test(one)).length,
  ])
  return Object.fromEntries(counts.map(([name, count]) => [name, Number(count) / ((to - from) / 60_000)]))
}

/** Reads stand in the log as well. */
async function writtenByKvup(since: Date, dryRunSteps = false): Promise<readonly string[]> {
  const written = await lab.auditWrites({ userAgent: 'kvup/', since, dryRunSteps })
  return written.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb)).map(({ object }) => object)
}

const isOfVms = (object: string) => object.startsWith('virtualmachine')

const vms = () => lab.kubectl(['get', 'virtualmachines,virtualmachineinstances', '-A', '-o', 'name'])

beforeAll(async () => {
  process.env['LAB_AUDIT_USER'] = 'lab-admin'
  lab = await startLab({
    name: 'measure',
    workers: 2,
    operator: 'v1.8.4',
    imageTag: 'v1.7.0',
    methods: ['LiveMigrate'],
  })
  watcher = watchVirtApi()
})
afterAll(async () => {
  watcher.stop()
  await lab.stop()
})

test('virt-api stops for 10 s in a measured upgrade: the seconds are those of a watcher outside, and it makes the calls that it states', async () => {
  const since = new Date()
  const line = 'upgrade --to v1.8.4 --yes --stable-for 5s --verbose --measure'
  const run = startKvup(lab, line.split(' '))
  void run.ended.catch(() => {})
  await run.line(/set imageTag|imageTag v1\.8\.4/u)
  const pid = await pidOfVirtApi()
  process.kill(pid, 'SIGSTOP')
  await delay(10_000)
  process.kill(pid, 'SIGCONT')
  const { code, stderr, stdout } = await run.ended
  expect({ code, said: stdout + stderr }).toMatchObject({ code: 0 })
  const history = await kvup(lab, ['history', '1', '-o', 'json'])
  const { runs } = JSON.parse(history.stdout) as HistoryDocument
  const measured = runs[0]?.availability
  const [from, to] = [Date.parse(measured?.begin ?? ''), Date.parse(measured?.end ?? '')]
  const outside = secondsAway(await watcher.calls(), from, to)
  const inside = measured?.unavailable['subresource'] ?? 0
  console.log(`virt-api was away: ${outside} s by the watcher, ${JSON.stringify(measured)}`)
  expect(outside).toBeGreaterThan(8)
  expect(Math.abs(inside - outside)).toBeLessThanOrEqual(2)

  const rates = await callsAMinute(from, to)
  console.log(`calls a minute in the upgrade: ${JSON.stringify(rates)}`)
  for (const rate of Object.values(rates)) expect(rate).toBeLessThanOrEqual(60 * 1.05)
  expect((await writtenByKvup(since)).filter(isOfVms)).toEqual([])
  expect((await writtenByKvup(since, true)).filter(isOfVms).length).toBeGreaterThan(10)
  expect(await vms()).toBe('')

  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
})
