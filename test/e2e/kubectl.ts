import { once } from 'node:events'
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What kubectl sent, as the simulator is asked it again in `npm test`. */
export interface SentRequest {
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  /** base64 */
  body?: string
  status: number
}

const kept: ReadonlySet<string> = new Set(['accept', 'content-type'])

const isFinal = (status: number): boolean => status < 400 || status === 409

/** What can be asked again, once: no watches, and nothing that depends on how far the cluster was by then. */
export function forReplay(sent: readonly SentRequest[]): readonly SentRequest[] {
  const asked = sent.filter(
    ({ path, status }) => !/[?&]watch=|uid|pods\/virt-/u.test(path) && isFinal(status),
  )
  const seen = new Set<string>()
  return asked.filter(({ method, path, body }) => {
    const key = `${method} ${path} ${body}`
    return method === 'DELETE' || (!seen.has(key) && seen.add(key))
  })
}

/** A proxy on loopback that writes down what goes through it to that server. */
export async function recordingProxy(server: string) {
  const sent: SentRequest[] = []
  const proxy = createServer((incoming, answer) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = 'GET', url = '/', headers } = incoming
      const onward = ask(`${server}${url}`, { method, headers }, (from) => {
        const named = Object.entries(headers).filter(([name]) => kept.has(name)) as [string, string][]
        const body = chunks.length > 0 && { body: Buffer.concat(chunks).toString('base64') }
        sent.push({
          method,
          path: url,
          headers: Object.fromEntries(named),
          ...body,
          status: from.statusCode ?? 0,
        })
        answer.writeHead(from.statusCode ?? 500, from.headers)
        // A watch begins with its headers, long before anything happens.
        answer.flushHeaders()
        from.pipe(answer)
      })
      answer.on('close', () => onward.destroy())
      onward.on('error', () => answer.destroy())
      onward.end(Buffer.concat(chunks))
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return { sent, url: `http://127.0.0.1:${port}`, stop: () => proxy.closeAllConnections() }
}
