import type { Environment } from '../connection.ts'

/** The proxy that the environment asks for, as Go programs (kubectl) read it. Never one for loopback. */
export function proxyFor(server: URL, env: Environment): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy || isLoopback(server.hostname) || isExempt(server, env['NO_PROXY'] || env['no_proxy'] || '')) {
    return undefined
  }
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

function isExempt(server: URL, noProxy: string): boolean {
  const port = server.port || (server.protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => entry === '*' || matches(entry, bare(server.hostname), port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry.includes('/')) return inNetwork(host, entry)
  const [, name = entry, only] = /^(.+?):(\d+)$/.exec(entry) ?? []
  if (only !== undefined && only !== port) return false
  const domain = bare(name.replace(/^\*/, ''))
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`)
}

function inNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/')
  const [a, b] = [ipv4(host), ipv4(address)]
  if (a === undefined || b === undefined) return false
  const size = 2 ** (32 - Number(bits))
  return Math.floor(a / size) === Math.floor(b / size)
}

function ipv4(text: string): number | undefined {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined
  return text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

const bare = (host: string): string => host.replace(/^\[|\]$/g, '').toLowerCase()
