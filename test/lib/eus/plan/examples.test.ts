import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Cluster } from '../../../../src/lib/kube/cluster.ts'
import { systemClock } from '../../../../src/lib/kube/clock.ts'
import { runText } from '../../run-text.ts'

// From the project's folder: what helps is aligned behind a path of the same length in every clone.
const folder = 'test/examples/eus/'

/** Whole clusters as `oc get … -o yaml` prints them, with what is asked (`run.txt`) and the page that is expected. */
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const noCluster = {} as Cluster

async function page(name: string) {
  const run = readFileSync(`${folder}${name}/run.txt`, 'utf8').trim().split(' ')
  const files = new Proxy<Record<string, string>>({}, { get: (_, file) => text(name, String(file)) })
  const place = { cluster: noCluster, clock: systemClock, files }
  const line = [...run, '--from', `${folder}${name}/cluster`]
  const { code, out, err } = await runText(line, place)
  const wide = await runText([...line, '-o', 'wide'], place)
  return `${out}${err}\nexit ${code}\n\n-o wide:\n${wide.out}`.replaceAll(folder, '')
}

function text(name: string, file: string): string | undefined {
  const path = `${folder}${name}/${file}`
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

test.each(names)('%s', async (name) => {
  const actual = await page(name)
  const file = `${folder}${name}/expected.txt`
  if (process.env['UPDATE'] === '1') writeFileSync(file, actual)
  expect(actual).toBe(readFileSync(file, 'utf8'))
})
