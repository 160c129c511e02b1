import { expect, test } from 'vitest'
import { displayWidth } from '../../../src/lib/output/text.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { example, expected } from '../kubevirt/example.ts'
import { runText } from '../run-text.ts'

async function shown(line: string, name: string, columns: number): Promise<string> {
  const { store, clock } = example(name)
  const { out, err } = await runText(line.split(' '), { cluster: storeCluster(store), clock, columns })
  expect(err.split('\n').filter((one) => one !== '')).toEqual(announced(line, name))
  return out
}

/** What is waited for is said beforehand, on stderr: of these clusters just that, and of the others nothing. */
function announced(line: string, name: string): readonly string[] {
  const edit = 'virt-operator is acting on an edit of the KubeVirt resource: waiting for it, 90s at most'
  const lease = 'the Lease of virt-operator has expired: waiting up to 30 s for virt-operator to renew it'
  if (name !== 'node-not-ready' && name !== 'wrong-tag') return []
  return name === 'node-not-ready' && line.startsWith('check') ? [edit, lease] : [lease]
}

const words = (line: string) => line.trim().match(/(?:'[^']*'|"[^"]*"|\S)+/gu) ?? []

/** Lines that the terminal has to break, though they could be broken between two words. */
function brokenByTerminal(text: string, columns: number): string[] {
  return text
    .split('\n')
    .filter((line) => displayWidth(line) > columns)
    .filter((line) => words(line).filter((word) => !/^(?:[→✖✔!?·]|\\)$/u.test(word)).length > 1)
}

const clusters = ['much-speaks-against-it', 'ready-for-the-next-minor', 'node-not-ready', 'wrong-tag']
const lines = [
  ['check', 'check --to v1.9.0'],
  ['status', 'status'],
] as const

for (const [command, line] of lines) {
  test.each(clusters.flatMap((name) => [80, 40].map((columns) => [name, columns] as const)))(
    `${line} on %s, %i columns wide`,
    async (name, columns) => {
      const text = await shown(line, name, columns)
      expect(text).toBe(expected(name, `${command}.${columns}.txt`, text))
      expect(brokenByTerminal(text, columns)).toEqual([])
    },
  )

  test.each([1, 8, 20, 30])(`${line}: %i columns are no failure`, async (columns) => {
    for (const name of clusters) expect(await shown(line, name, columns)).not.toBe('')
  })
}

test.each([
  ['explain', 80],
  ['explain', 40],
  ['explain kubernetes-window', 80],
  ['explain kubernetes-window', 40],
  ['explain crd-stored-versions', 20],
  ['explain eus', 80],
  ['explain eus', 40],
])('%s, %i columns wide', async (line, columns) => {
  const text = await shown(line, 'healthy', columns)
  // The first of a list that grows with every finding.
  const first = text.split('\n').slice(0, 25).join('\n')
  await expect(first).toMatchFileSnapshot(`golden/${line.replace(' ', '-')}.${columns}.txt`)
  expect(brokenByTerminal(text, columns)).toEqual([])
})
