import { afterAll, beforeAll, expect, test } from 'vitest'
import { asYaml } from '../../src/lib/manifests/apply-manifest.ts'
import { SimClock } from '../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../src/simulator/simulated-cluster.ts'
import { runText } from '../lib/run-text.ts'

const clock = new SimClock()
let sim: SimulatedCluster
beforeAll(async () => {
  sim = await simulate({ clock, version: 'v1.8.4', workers: 1, controlPlanes: 1 })
})
afterAll(() => sim.stop())

const kvup = (line: string, files: Readonly<Record<string, string>> = {}) =>
  runText(line.split(' '), { cluster: sim.cluster(), clock, files })

/** Nothing listens there. */
const noWay = '--manifest-base http://127.0.0.1:9'
const shown = [['plan --to v1.9.0'], ['upgrade --to v1.9.0 --dry-run=client']]

test.each(shown)('%s: without its manifest it is refused, with the line that fetches it', async (line) => {
  const { code, out, err } = await kvup(`${line} ${noWay}`)
  expect(code).toBe(8)
  // The page has what helps; the error below it does not say it again.
  expect(out + err).toContain(
    'curl -fL --create-dirs -o releases/v1.9.0/kubevirt-operator.yaml http://127.0.0.1:9/v1.9.0/kubevirt-operator.yaml',
  )
  expect(out + err).toContain('--manifest-base releases')
  expect(out + err).toContain('--manifest FILE')
  expect(err).not.toContain('--accept')
})

test.each(shown)('%s: nobody accepts to go without it', async (line) => {
  const { code, err } = await kvup(`${line} ${noWay} --accept manifest-not-read`)
  expect(code).toBe(2)
  expect(err).toContain('manifest-not-read cannot be accepted')
})

test.each(shown)('%s: with the file it goes', async (line) => {
  const files = { 'operator.yaml': asYaml(sim.operatorManifest('v1.9.0')) }
  expect(await kvup(`${line} --manifest operator.yaml`, files)).toMatchObject({ code: 0 })
})

test.each([['plan --to v1.8.4'], ['upgrade --to v1.8.4 --dry-run=client']])(
  '%s: where nothing is to be done no manifest is missing',
  async (line) => {
    const { code, out } = await kvup(`${line} ${noWay}`)
    expect(out).toContain('nothing to do')
    expect(code).toBe(0)
  },
)
