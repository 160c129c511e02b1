import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { download } from '../../../src/lib/manifests/manifest-download.ts'

let server: Server | undefined
afterEach(() => server?.close())

/** Which login each request to it brought along. */
async function listening(
  answer: 'manifest' | 'redirect',
): Promise<{ port: number; logins: (string | undefined)[] }> {
  const logins: (string | undefined)[] = []
  server = createServer(({ url, headers }, response) => {
    logins.push(headers.authorization)
    if (answer === 'redirect' && url === '/here') {
      response.writeHead(302, { location: 'https://localhost:1/there' }).end()
    } else response.end('kind: List')
  })
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
  return { port: (server.address() as AddressInfo).port, logins }
}

test('a login in the address is used', async () => {
  const { port, logins } = await listening('manifest')
  const bytes = await download(`http://jane:a%2Fb@127.0.0.1:${port}/here`, { env: {} })
  expect(bytes.toString()).toBe('kind: List')
  expect(logins).toEqual([`Basic ${Buffer.from('jane:a/b').toString('base64')}`])
})

test('a redirect to another host takes no login along, and no failure says the password', async () => {
  const { port, logins } = await listening('redirect')
  const failed = await download(`http://jane:sekret@127.0.0.1:${port}/here`, { env: {} }).catch(
    (error: unknown) => error,
  )
  expect(failed).toMatchObject({ reason: 'manifest-unreachable' })
  expect(JSON.stringify(failed, Object.getOwnPropertyNames(failed))).not.toContain('sekret')
  expect(String(failed)).not.toContain('sekret')
  expect(logins).toHaveLength(1)
})
