import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Answer, header } from './answer.ts'

const unzipped = promisify(gunzip)

/** The whole body; an API server sends long lists compressed to who can read them. */
export async function decoded({ headers, body }: Answer): Promise<string> {
  if (header({ headers }, 'content-encoding') !== 'gzip') return body.text()
  return (await unzipped(Buffer.from(await body.arrayBuffer()))).toString('utf8')
}
