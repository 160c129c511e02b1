import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startKvup } from '../built/program.ts'
import { kvup } from '../in-process.ts'

interface Kubeconfig {
  'current-context': string
  users: { name: string }[]
  clusters: { name: string }[]
}

/** The kubeconfig of a demo that is kept until the test ends. */
async function served(scenario: string, speed: string): Promise<string> {
  const demo = startKvup(['demo', '--serve', '--scenario', scenario, '--speed', speed])
  onTestFinished(async () => {
    demo.kill('SIGINT')
    await demo.ended
  })
  await demo.until(/Ctrl-C ends it/u)
  return /^export KUBECONFIG=(?<file>\S+)\n$/u.exec(demo.said().stdout)?.groups?.['file'] ?? ''
}

interface FleetStatus {
  items: { context: string; uid: string; state: string; version: string; age?: string }[]
}

test('two served demos are two clusters, and together a fleet, at whatever speed each of them runs', async () => {
  const files = await Promise.all([served('image-tag', '1'), served('restart-required', '300')])
  const [one, other] = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Kubeconfig)
  expect(one).toMatchObject({
    'current-context': 'image-tag',
    users: [{ name: 'image-tag-admin' }],
    clusters: [{ name: 'image-tag' }],
  })
  expect(other).toMatchObject({ 'current-context': 'restart-required' })
  const { stdout, code } = await kvup(['fleet', 'status', '--contexts', '*', '-o', 'json'], {
    kubeconfig: files.join(':'),
  })
  const { items } = JSON.parse(stdout) as FleetStatus
  expect(items.map(({ context, version }) => `${context} ${version}`).toSorted()).toEqual([
    'image-tag v1.7.4',
    'restart-required v1.9.0',
  ])
  expect(new Set(items.map(({ uid }) => uid)).size).toBe(2)
  expect(code).toBe(0)
})
