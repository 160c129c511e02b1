import { expect, it } from 'vitest'
import { type Pod, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { animate, node } from './animate.ts'

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'it', image: 'it:1', resources: { requests: { memory: '3Gi' } } }],
  },
})

it('a pod that was over before it had a node gets none, and takes no room from another', async () => {
  const roomy = node('a', { status: { allocatable: { memory: '4Gi' } } })
  const { clock, reader, writer } = animate([roomy, pod('runs'), pod('gives-up')])
  const nodeOf = async (name: string) => (await reader.list(Pods, { name }))[0]?.spec?.nodeName
  const end = (name: string) =>
    writer.mergePatch(Pods, { name, namespace: 'default' }, { status: { phase: 'Succeeded' } }, 'status')
  await clock.sleep(10_000)
  const [first, second] = (await nodeOf('runs')) === 'a' ? ['runs', 'gives-up'] : ['gives-up', 'runs']
  expect([await nodeOf(first), await nodeOf(second)]).toEqual(['a', undefined])
  await end(second)
  await end(first)
  await clock.sleep(60_000)
  expect(await nodeOf(second)).toBeUndefined()
  await writer.create(Pods, pod('next'))
  await clock.sleep(10_000)
  expect(await nodeOf('next')).toBe('a')
})
