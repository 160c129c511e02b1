// Prints N free TCP ports of 127.0.0.1 in one line, all different:   node free-ports.mjs N
import { once } from 'node:events'
import { createServer } from 'node:net'

const servers = Array.from({ length: Number(process.argv[2]) }, () => createServer().listen(0, '127.0.0.1'))
await Promise.all(servers.map((server) => once(server, 'listening')))
console.log(servers.map((server) => server.address().port).join(' '))
for (const server of servers) server.close()
