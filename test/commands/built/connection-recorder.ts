import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Loaded before the program: writes down every address that is connected to, every name that is looked up, every datagram socket. */
const preload = `
const [net, dns, dgram, fs] = ['net', 'dns', 'dgram', 'fs'].map((name) => process.getBuiltinModule('node:' + name))
const note = (text) => fs.appendFileSync(process.env.CONNECTIONS_FILE, text + '\\n')
const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (...given) {
  const [first, second] = Array.isArray(given[0]) ? given[0] : given
  const to = typeof first === 'object' ? first : { port: first, host: second }
  note(typeof to.path !== 'string' ? (to.host ?? 'localhost') + ':' + to.port : 'socket ' + to.path)
  return connect.apply(this, given)
}
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const ask = dns[name]
  dns[name] = (host, ...rest) => (net.isIP(host) ? undefined : note('name ' + host), ask(host, ...rest))
}
const createSocket = dgram.createSocket
dgram.createSocket = (...given) => (note('datagram'), createSocket(...given))
`

/** What a program, and whatever it starts, contacts when it runs with `env`. */
export function connectionRecorder(folder: string) {
  const own = mkdtempSync(join(folder, 'connections-'))
  const [file, script] = [join(own, 'contacted'), join(own, 'preload.mjs')]
  writeFileSync(script, preload)
  return {
    env: { NODE_OPTIONS: `--import=${script}`, CONNECTIONS_FILE: file },
    /** Each once. */
    contacted: (): string[] =>
      existsSync(file) ? [...new Set(readFileSync(file, 'utf8').trimEnd().split('\n'))] : [],
  }
}
