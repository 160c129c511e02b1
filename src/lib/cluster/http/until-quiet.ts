import type { Readable } from 'node:stream'

/** An API server sends a bookmark about once a minute; after the first one, so long a silence is a dead connection. */
const bookmarksMissed = 150_000
const grace = 10_000

/**
 * The bytes of a watch, cut when nobody can be at the other end any more: a proxy that forgot the connection keeps
 * it open without a word. `lifetime` is what the server was asked for, in ms.
 */
export async function* untilQuiet(
  body: Readable,
  lifetime: number,
  quiet = bookmarksMissed,
): AsyncGenerator<Uint8Array> {
  let timer = setTimeout(cut, lifetime + grace)
  function cut(): void {
    body.destroy(Object.assign(new Error('the watch went silent'), { code: 'ECONNRESET' }))
  }
  try {
    for await (const piece of body) {
      const bytes = piece as Uint8Array
      if (isBookmark(bytes)) {
        clearTimeout(timer)
        timer = setTimeout(cut, Math.min(quiet, lifetime + grace))
      } else timer.refresh()
      yield bytes
    }
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
}

function isBookmark(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 30)).includes('"BOOKMARK"')
}
