// The CONNECT proxy through which the apiserver reaches services (webhooks, aggregated APIs).
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'

/** Listens on a unix socket. `behind(host, port)` says where the program really is, or nothing: then 503. */
export function listenForApiserver(socket, behind) {
  const proxy = http.createServer((_, response) => {
    response.statusCode = 405
    response.end()
  })
  proxy.on('connect', (request, client, head) => {
    client.on('error', () => {})
    const colon = request.url.lastIndexOf(':')
    const target = behind(request.url.slice(0, colon), Number(request.url.slice(colon + 1)))
    if (!target) {
      client.end('HTTP/1.1 503 no running program behind this address\r\n\r\n')
      return
    }
    const upstream = net.connect(target.port, target.host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      if (head.length > 0) upstream.write(head)
      upstream.pipe(client)
      client.pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  fs.rmSync(socket, { force: true })
  proxy.listen(socket)
}
