import { pipeline, type Readable } from 'node:stream'
import { type Answer, header } from './answer.ts'

/** The whole body; an API server sends long lists compressed to who can read them. */
export async function decoded({ headers, body }: Answer): Promise<string> {
  const bytes = await bytesOf(body)
  if (header({ headers }, 'content-encoding') !== 'gzip') return bytes.toString('utf8')
  const { gunzip } = await import('node:zlib')
  return new Promise((resolve, reject) =>
    gunzip(bytes, (error, text) => (error === null ? resolve(text.toString('utf8')) : reject(error))),
  )
}

/** The same bytes while they arrive. */
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

async function bytesOf(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
