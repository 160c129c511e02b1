import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClusterClock } from '../../src/lib/kube/http/cluster-clock.ts'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import { openCluster } from '../../src/lib/kube/http/http-cluster.ts'
import { serveSimulator } from '../../src/simulator/api/http-server.ts'
import type { SimClock } from '../../src/simulator/simulated-clock.ts'
import type { Clock } from '../../src/lib/kube/clock.ts'
import type { Stage } from './stage.ts'

/** A machine of its own before a cluster: what it talks over, and a clock that need not be right. */
export interface Laptop {
  cluster: Cluster
  clock: Clock
}

/** Serves the cluster of a stage over HTTP, and gives machines that talk to it, each with a new connection. */
export async function overHttp(
  stage: Stage,
  act: (laptop: (ahead: number) => Promise<Laptop>) => Promise<void>,
): Promise<void> {
  const server = await serveSimulator(stage.simulated.store)
  const folder = mkdtempSync(join(tmpdir(), 'kvup-laptop-'))
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, server.kubeconfig())
  try {
    await act(async (ahead) => {
      const local = runningAhead(stage.clock, ahead)
      const clock = new ClusterClock(local)
      const cluster = await openCluster(
        { kubeconfig },
        {
          clock: local,
          heard: (date) => void clock.hear(date),
          random: () => 0.5,
          env: {},
          onWarning: () => undefined,
          verbosity: 0,
          userAgent: 'kvup/test',
        },
      )
      return { cluster: inNoTime(cluster, stage.clock), clock }
    })
  } finally {
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

export const runningAhead = (clock: Clock, ahead: number): Clock => ({
  now: () => new Date(clock.now().getTime() + ahead),
  sleep: (ms, signal) => clock.sleep(ms, signal),
})

/** Simulated time stands still while an answer is on its way through a real socket. */
function inNoTime<T extends object>(part: T, clock: SimClock): T {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value === 'object' && value !== null) return inNoTime(value, clock)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        const answer: unknown = value.apply(target, given)
        if (answer instanceof Promise) return clock.during(answer)
        return name === 'pages' ? pagesInNoTime(answer as AsyncIterable<unknown>, clock) : answer
      }
    },
  })
}

async function* pagesInNoTime<T>(pages: AsyncIterable<T>, clock: SimClock): AsyncGenerator<T> {
  const source = pages[Symbol.asyncIterator]()
  for (;;) {
    const page = await clock.during(source.next())
    if (page.done) return
    yield page.value
  }
}
