import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { ConfigMaps } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { kvup } from '../in-process.ts'
import { type Alive, serveCluster } from './simulated.ts'

let alive: Alive
afterEach(() => alive.stop())

/** A cluster whose clock is so far behind this machine's. */
const behind = (ms: number) =>
  serveCluster({
    version: 'v1.7.4',
    operator: 'v1.8.4',
    method: 'image-tag',
    said: { now: () => new Date(Date.now() - ms) },
  })

const hour = 3_600_000
const words = "the clock of this computer is 1 h 02 m ahead of the cluster's: kvup shows the cluster's times"
const timesWarned = (stderr: string) => stderr.split(`warning: ${words}\n`).length - 1

test('a clock that is wrong is said once, in the story and in the documents, and costs no request', async () => {
  alive = await behind(hour + 2 * 60_000)
  const asked = async (...argv: string[]) => {
    const mark = alive.store.audit.length
    const ended = await kvup(argv, alive)
    const ours = alive.store.audit.slice(mark).filter(({ userAgent }) => userAgent.startsWith('kvup/'))
    return { ...ended, requests: ours.length }
  }
  const status = await asked('status', '-o', 'json')
  expect([status.code, timesWarned(status.stderr)]).toEqual([0, 1])
  expect(JSON.parse(status.stdout)).toMatchObject({ clock: words })
  const check = await asked('check', '-o', 'json')
  const { items } = JSON.parse(check.stdout) as { items: { id: string; findings: object[] }[] }
  expect(items.filter(({ id }) => id === 'clock-skew')).toMatchObject([
    { findings: [{ level: 'warning', summary: words }] },
  ])
  await alive.stop()

  alive = await behind(0)
  const right = await asked('status', '-o', 'json')
  expect([right.stderr, right.requests]).toEqual(['', status.requests])
  expect(JSON.parse(right.stdout)).not.toHaveProperty('clock')
})

test('what an upgrade writes and tells has the time of the cluster; it ends as it does', async () => {
  alive = await behind(hour + 2 * 60_000)
  const began = Date.now() - hour - 2 * 60_000
  const { code, stderr } = await kvup(['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '0s'], alive)
  expect([code, timesWarned(stderr)]).toEqual([0, 1])
  const journal = alive.store.read(ConfigMaps, { namespace: 'kubevirt', name: 'kvup-journal' })
  const written = [...JSON.stringify(journal).matchAll(/\\"at\\":\\"([^\\]+)\\"/gu)]
  expect(written.length).toBeGreaterThan(3)
  for (const [, at = ''] of written) expect(Math.abs(Date.parse(at) - began)).toBeLessThan(60_000)
  const told = new Date(began).toTimeString().slice(0, 3)
  expect(stderr).toMatch(
    new RegExp(`^(${told}|${new Date(began + 60_000).toTimeString().slice(0, 3)})`, 'mu'),
  )
})

test('of a saved cluster nothing is said: its time is when it was saved', async () => {
  alive = await behind(hour)
  const saved = join(alive.folder, 'saved.ndjson')
  const taken = await kvup(['snapshot', '--to-file', saved], alive)
  expect(taken.code).toBe(0)
  const { code, stderr, stdout } = await kvup(['status', '--from', saved, '-o', 'json'])
  expect([code, stderr]).toEqual([0, ''])
  const { clock, takenAt } = JSON.parse(stdout) as { clock?: string; takenAt: string }
  expect(clock).toBeUndefined()
  expect(Math.abs(Date.parse(takenAt) - (Date.now() - hour))).toBeLessThan(60_000)
})
