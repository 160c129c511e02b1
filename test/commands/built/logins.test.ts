import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { kvup } from '../in-process.ts'
import { type Served, serveObjects } from './simulated.ts'

interface Kubeconfig {
  clusters: { cluster: Record<string, unknown> }[]
  users: { user: Record<string, unknown> }[]
}

let served: Served
beforeAll(async () => (served = await serveObjects()))
afterAll(() => served.stop())

/** The answer of an API server that was reached, and has no KubeVirt. */
const reached = { code: 3, stderr: expect.stringContaining('KubeVirt is not installed here') as string }

async function status(name: string, text: (config: Kubeconfig) => string) {
  const kubeconfig = join(served.folder, name)
  writeFileSync(kubeconfig, text(JSON.parse(readFileSync(served.kubeconfig, 'utf8')) as Kubeconfig))
  return kvup(['status'], { kubeconfig })
}

describe('what is loaded late is there in the built program', () => {
  test('a kubeconfig in JSON', async () => {
    expect(await status('json', (config) => JSON.stringify(config))).toMatchObject(reached)
  })

  test('a kubeconfig in the YAML that kubectl writes', async () => {
    expect(await status('plain', (config) => stringify(config))).toMatchObject(reached)
  })

  test('a kubeconfig that needs a YAML parser', async () => {
    expect(await status('yaml', (config) => `preferences: {a: 1}\n${stringify(config)}`)).toMatchObject(
      reached,
    )
  })

  test('a login plug-in', async () => {
    const script = 'console.log(JSON.stringify({ status: { token: "plugged-in" } }))'
    const exec = { command: process.execPath, args: ['-e', script], interactiveMode: 'Never' }
    const text = (config: Kubeconfig) => {
      for (const { user } of config.users) user['exec'] = exec
      return JSON.stringify(config)
    }
    // A token is its user's name there, and this one has no rights.
    const known = { code: 7, stderr: expect.stringContaining('plugged-in may not list') as string }
    expect(await status('plug-in', text)).toMatchObject(known)
  })

  test('a proxy', async () => {
    const asked: string[] = []
    const proxy = createServer((from, to) => {
      asked.push(from.url ?? '')
      const { pathname, search } = new URL(from.url ?? '', served.url)
      const { method, headers } = from
      const onward = request(new URL(pathname + search, served.url), { method, headers }, (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(to)
      })
      from.pipe(onward)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const text = (config: Kubeconfig) => {
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
      for (const { cluster } of config.clusters) cluster['proxy-url'] = address
      return JSON.stringify(config)
    }
    expect(await status('proxied', text)).toMatchObject(reached)
    expect(asked.length).toBeGreaterThan(0)
    proxy.closeAllConnections()
    proxy.close()
  })

  test('a config file', async () => {
    const file = join(served.folder, 'kvup/config.yaml')
    mkdirSync(join(served.folder, 'kvup'))
    writeFileSync(file, 'color: sometimes\n')
    const env = { XDG_CONFIG_HOME: served.folder }
    const { code, stderr } = await kvup(['status'], { kubeconfig: served.kubeconfig, env })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(file) as string })
  })
})
