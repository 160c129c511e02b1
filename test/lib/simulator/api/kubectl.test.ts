import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveSimulator } from '../../../../src/simulator/api/http-server.ts'
import { scenarioNamed } from '../../../../src/simulator/scenarios.ts'
import { SimClock } from '../../../../src/simulator/simulated-clock.ts'
import { startScenario } from '../../../../src/simulator/simulated-cluster.ts'

/** What `test/e2e/kubectl.test.ts` wrote down of real kubectls on such a cluster, with KVUP_RECORD_KUBECTL=1. */
interface Recorded {
  kubectl: string
  method: string
  path: string
  headers: Record<string, string>
  /** base64 */
  body?: string
  status: number
}

const recorded = readFileSync(new URL('kubectl-requests.ndjson', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)

describe.each([...Map.groupBy(recorded, ({ kubectl }) => kubectl)])('kubectl %s', (_minor, requests) => {
  test('gets the answers that it got: to get, describe, create, apply, patch, wait, logs and delete', async () => {
    const clock = new SimClock()
    const cluster = await startScenario(scenarioNamed('mixed-workloads')!, { clock })
    const server = await serveSimulator(cluster.store)
    onTestFinished(async () => {
      await server.close()
      await cluster.stop()
    })
    for (const { method, path, headers, body, status } of requests) {
      const sent = { method, headers, ...(body !== undefined && { body: Buffer.from(body, 'base64') }) }
      const answer = await fetch(`${server.url}${path}`, sent)
      const text = await answer.text()
      expect([method, path, answer.status, text.slice(0, 300)]).toEqual([
        method,
        path,
        status,
        text.slice(0, 300),
      ])
    }
  })
})
