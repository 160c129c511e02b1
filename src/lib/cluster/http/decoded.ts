import { pipeline, type Readable } from 'node:stream'
import { type Answer, header } from './answer.ts'

/** The whole body, as `decodedPieces` gives it. */
export async function decoded(answer: Answer, most: number): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of decodedPieces(answer, most)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/**
 * The body while it arrives; an API server sends long lists compressed to who can read them. Throws what cuts or garbles it, and for
 * more than `most` bytes, unzipped: an answer without an end must not fill this machine.
 */
export async function* decodedPieces({ headers, body }: Answer, most: number): AsyncGenerator<Buffer> {
  const isZipped = header({ headers }, 'content-encoding') === 'gzip'
  let size = 0
  for await (const piece of isZipped ? unzipped(body) : (body as AsyncIterable<Buffer>)) {
    size += piece.length
    if (size > most) throw new Error(`the answer is longer than ${most / 1024 / 1024} MB`)
    yield piece
  }
}

/** Each piece is a turn of the loop: a page of 2 MB has 130 of the usual size. */
const pieceSize = 128 * 1024

async function* unzipped(body: Readable): AsyncGenerator<Buffer> {
  const { createGunzip } = await import('node:zlib')
  // What goes wrong ends the pieces, with its error.
  yield* pipeline(body, createGunzip({ chunkSize: pieceSize }), () => undefined) as AsyncIterable<Buffer>
}
