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
const every = [
  'check --to VERSION --manifest http://127.0.0.1:9/VERSION/kubevirt-operator.yaml',
  `fleet check --contexts one --kubeconfig ${import.meta.dirname}/one-context.json --to VERSION --manifest http://127.0.0.1:9/VERSION/kubevirt-operator.yaml`,
  'plan --to VERSION --manifest-base http://127.0.0.1:9',
  'upgrade --to VERSION --yes --manifest-base http://127.0.0.1:9',
  'upgrade --to VERSION --dry-run=client --manifest-base http://127.0.0.1:9',
]
const errorOf = (out: string) => (JSON.parse(out) as { error?: { code: number; reason: string } }).error

test.each(every)('%s: a manifest that is away is 8, and what the cluster forbids is 3', async (line) => {
  const away = await kvup(`${line.replaceAll('VERSION', 'v1.9.0')} -o json`)
  expect([away.code, errorOf(away.out)?.reason]).toEqual([8, 'manifest-unreachable'])
  expect(away.out + away.err).not.toContain('cluster unreachable')
  const forbidden = await kvup(`${line.replaceAll('VERSION', 'v1.7.4')} -o json`)
  expect(forbidden.code).toBe(3)
  expect(errorOf(forbidden.out)?.reason ?? '').not.toMatch(/manifest/u)
})

test.each(['v1.8.44', 'v1.9.44'])(
  '%s, which no data know: proven by its manifest it is ready, else not checked',
  async (version) => {
    const files = { 'operator.yaml': asYaml(sim.operatorManifest(version)) }
    for (const line of [
      `check --to ${version}`,
      `plan --to ${version}`,
      `upgrade --to ${version} --dry-run=client`,
    ]) {
      const proven = await kvup(`${line} --manifest operator.yaml`, files)
      expect(proven.code).toBe(0)
      expect(proven.out.split('\n')[0]).toContain("newer than kvup's data of 2026-08-22")
      const method = line.startsWith('check') ? '' : ` ${noWay}`
      const unproven = await kvup(`${line}${method}`)
      expect(unproven.code).toBe(3)
      expect(unproven.out + unproven.err).not.toMatch(
        new RegExp(`(?:Next:|→) kvup upgrade --to ${version}`, 'u'),
      )
    }
  },
)

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
