import { pipeline, type Readable } from 'node:stream'
import { type Answer, header } from './answer.ts'

/** The whole body, as `decodedPieces` gives it. */
export async function decoded(answer: Answer): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of decodedPieces(answer)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** The body while it arrives; an API server sends long lists compressed to who can read them. Throws what cuts or garbles it. */
export async function* decodedPieces({ headers, body }: Answer): AsyncGenerator<Buffer> {
  if (header({ headers }, 'content-encoding') === 'gzip') yield* unzipped(body)
  else yield* body as AsyncIterable<Buffer>
}

/** Each piece is a turn of the loop: a page of 2 MB has 130 of the usual size. */
const pieceSize = 128 * 1024

async function* unzipped(body: Readable): AsyncGenerator<Buffer> {
  const { createGunzip } = await import('node:zlib')
  // What goes wrong ends the pieces, with its error.
  yield* pipeline(body, createGunzip({ chunkSize: pieceSize }), () => undefined) as AsyncIterable<Buffer>
}
