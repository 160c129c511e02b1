import { afterEach, expect, test } from 'vitest'
import type { HeardDate } from '../../../../src/lib/kube/http/cluster-clock.ts'
import { ConfigMaps } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import {
  configMapBody,
  InstantClock,
  opened,
  refuse,
  reply,
  type TinyServer,
  tinyServer,
} from './tiny-server.ts'

let server: TinyServer | undefined
afterEach(async () => server?.close())

const date = 'Sun, 22 Nov 2026 05:06:37 GMT'
const said = Date.parse('2026-11-22T05:06:37Z')
const ref = { name: 'x', namespace: 'ns' }

/** What is heard while one object is read. */
async function heardFrom(...answers: { status?: number; headers: Record<string, string> }[]) {
  const clock = new InstantClock()
  server = await tinyServer((_, response, count) => {
    const { status = 200, headers } = answers[Math.min(count, answers.length) - 1] ?? { headers: {} }
    response.sendDate = false
    // So long it takes.
    clock.pass(300)
    if (status < 300) reply(response, status, configMapBody('x'), headers)
    else refuse(response, status, 'Snag', headers)
  })
  const heard: HeardDate[] = []
  const { cluster } = await opened(server.url, { clock, heard: (one) => heard.push(one) })
  await cluster.reader.get(ConfigMaps, ref).catch(() => undefined)
  return { heard, asked: server.asked.length, slept: clock.slept }
}

test('an answer tells the time, without a request of its own', async () => {
  const began = new InstantClock().now().getTime()
  const { heard, asked } = await heardFrom({ headers: { date } })
  expect(heard).toEqual([{ date: said, sent: began, received: began + 300 }])
  expect(asked).toBe(1)
})

test.each([
  ['one that was refused', { status: 403, headers: { date } }],
  ['one of an object that is not there', { status: 404, headers: { date } }],
])('%s tells it too', async (_, answer) => {
  expect((await heardFrom(answer)).heard).toMatchObject([{ date: said }])
})

test.each<[string, Record<string, string>]>([
  ['none', {}],
  ['one out of a cache', { date, age: '0' }],
  ['one that is no date', { date: 'yesterday GMT' }],
  ['one without its zone, which Node would take for local time', { date: 'Sun Nov 22 05:06:37 2026' }],
])('not heard: %s', async (_, headers) => {
  expect((await heardFrom({ headers })).heard).toEqual([])
})

test('not heard: a gateway that could not reach the server', async () => {
  const { heard } = await heardFrom({ status: 502, headers: { date } }, { headers: { date } })
  expect(heard).toHaveLength(1)
})

test('Retry-After with a date is measured from the date of its answer, not by our clock', async () => {
  const { slept } = await heardFrom(
    { status: 429, headers: { date, 'retry-after': 'Sun, 22 Nov 2026 05:06:44 GMT' } },
    { headers: { date } },
  )
  expect(slept).toHaveLength(1)
  expect(slept[0]).toBeGreaterThanOrEqual(7000)
  expect(slept[0]).toBeLessThan(15_000)
})
