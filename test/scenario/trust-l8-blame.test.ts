import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/kube/cluster.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import { lastWriter } from '../../src/lib/kube/last-writer.ts'
import { byTag, play, second, type Stage } from './stage.ts'

/** Lists of KubeVirts are empty while this is so, as those of a server that has lost its cache are. */
function forgetting({ cluster }: Stage, isGone: () => boolean): Cluster {
  const { reader } = cluster
  const list: typeof reader.list = async (kind, where) => {
    const found = await reader.list(kind, where)
    return kind.plural === 'kubevirts' && isGone() ? [] : found
  }
  const blank = new Proxy(reader, {
    get(target, name) {
      if (name === 'list') return list
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  return { ...cluster, reader: blank }
}

/** An upgrade in the middle of which lists are empty for so long. */
async function upgraded(stage: Stage, ms: number) {
  let until = 0
  const onEvent = ({ kind }: { kind: string }) => {
    if (kind === 'step-applied') until ||= stage.now + ms
  }
  const cluster = forgetting(stage, () => stage.now < until)
  return stage.upgrade('v1.8.4', {}, { cluster, onEvent })
}

test('L8 a KubeVirt that is missing from a list for three seconds is looked for again', async () => {
  await play(byTag, async (stage) => {
    expect(await upgraded(stage, 3 * second)).toMatchObject({ code: 0 })
    expect(stage.methods).toEqual(['LiveMigrate'])
  })
})

test('L8 one that stays away ends the run within a minute, and no line would make it anew', async () => {
  await play(byTag, async (stage) => {
    const ended = await upgraded(stage, 3600 * second)
    expect(ended).toMatchObject({ code: 3, error: { reason: 'gone' } })
    expect(ended.took).toBeLessThan(60 * second)
    expect(ended.text).not.toContain('kubectl apply')
    expect(ended.text).toContain('kubectl get kubevirts.kubevirt.io -A')
  })
})

const written = (manager: string, time: string): KubeObject => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: {
    name: 'kubevirt',
    managedFields: [{ manager, time, fieldsV1: { 'f:spec': { 'f:imageTag': {} } } }],
  },
})

test.each([
  ['before our change', '2026-11-22T22:11:20Z', undefined],
  ['after it', '2026-11-22T22:13:41Z', 'kubectl-create at 2026-11-22T22:13:41Z'],
  ['in the same second', '2026-11-22T22:13:40Z', 'kubectl-create at 2026-11-22T22:13:40Z'],
])('L8 who wrote %s is blamed for what he did, and no more', (_, time, blamed) => {
  const ours = new Date('2026-11-22T22:13:40.500Z')
  expect(lastWriter(written('kubectl-create', time), '/spec/imageTag', ours)).toBe(blamed)
})
