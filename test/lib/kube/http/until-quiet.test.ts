import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { untilQuiet } from '../../../../src/lib/kube/http/watch.ts'

const bookmark = Buffer.from('{"type":"BOOKMARK","object":{}}\n')

async function outcome(body: PassThrough, quiet: number): Promise<string> {
  try {
    for await (const _ of untilQuiet(body, 60_000, quiet)) continue
    return 'ended'
  } catch (error) {
    return (error as Error).message
  }
}

test('a silence after a bookmark is a dead connection', async () => {
  const body = new PassThrough()
  body.write(bookmark)
  expect(await outcome(body, 30)).toBe('the watch went silent')
})

test('as long as bookmarks come, it lives', async () => {
  const body = new PassThrough()
  const beat = setInterval(() => body.write(bookmark), 20)
  setTimeout(() => body.end(), 200)
  expect(await outcome(body, 100)).toBe('ended')
  clearInterval(beat)
})

test('a server that sends no bookmarks may be silent', async () => {
  const body = new PassThrough()
  body.write('{"type":"ADDED","object":{}}\n')
  setTimeout(() => body.end(), 100)
  expect(await outcome(body, 30)).toBe('ended')
})
