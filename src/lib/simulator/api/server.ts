import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../system/clock.ts'
import type { ApiFaults } from '../faults.ts'
import { attend } from './http/front.ts'
import { kubeconfig } from './http/kubeconfig.ts'
import type { Store } from './store.ts'

export interface Simulator {
  readonly url: string
  readonly port: number
  /** With a context for every user that is named, besides the admin's; `speed`: that of its time, where those who ask are to know. */
  kubeconfig(users?: readonly string[], speed?: number): string
  /** Cuts every connection. */
  close(): Promise<void>
}

export interface Serving {
  port?: number
  faults?: ApiFaults
  /** What its answers say the time is. Default: the store's; another one where that runs faster than those who ask know. */
  clock?: Pick<Clock, 'now'>
}

/** Puts a store on the wire: plain HTTP on loopback, good enough for kubectl. Time is the store's clock. */
export async function serveSimulator(
  store: Store,
  { port = 0, faults, clock = store.clock }: Serving = {},
): Promise<Simulator> {
  const server = createServer((request, response) => {
    // Node would say its own time.
    response.sendDate = false
    response.setHeader('date', clock.now().toUTCString())
    void attend({ store, faults }, request, response)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const stopRestarts = faults?.onRestart(() => server.closeAllConnections())
  const { port: listening } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${listening}`
  return {
    url,
    port: listening,
    kubeconfig: (users, speed) => kubeconfig(url, users, speed),
    async close() {
      stopRestarts?.()
      server.close()
      server.closeAllConnections()
      if (server.listening) await once(server, 'close')
    },
  }
}
