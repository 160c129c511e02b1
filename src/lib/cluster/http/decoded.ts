import type { Readable } from 'node:stream'
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

async function bytesOf(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
