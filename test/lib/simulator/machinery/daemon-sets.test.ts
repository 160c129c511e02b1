import { expect, it } from 'vitest'
import { type DaemonSet, DaemonSets, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { animate, node, template } from './animate.ts'

const daemonSet: DaemonSet = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'it', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'it' } },
    template: template('it:1'),
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
  },
}
const nodes = (count: number) => Array.from({ length: count }, (_, i) => node(`node-${i}`))
const tainted = node('cp', {
  spec: { taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] },
})

it('one pod on every node that is not tainted', async () => {
  const { clock, reader } = animate([...nodes(4), tainted, daemonSet])
  await clock.sleep(10_000)
  const [found] = await reader.list(DaemonSets)
  expect(found?.status).toMatchObject({
    desiredNumberScheduled: 4,
    numberReady: 4,
    updatedNumberScheduled: 4,
    observedGeneration: 1,
  })
  const places = (await reader.list(Pods)).map((pod) => pod.spec?.nodeName)
  expect(new Set(places)).toEqual(new Set(['node-0', 'node-1', 'node-2', 'node-3']))
})

it('rolls a tenth of the nodes at a time, and every pod in the end', async () => {
  const { clock, reader, writer, store } = animate([...nodes(20), daemonSet])
  await clock.sleep(10_000)
  let fewest = 20
  store.watch(DaemonSets, ({ object }) => {
    fewest = Math.min(fewest, (object as DaemonSet).status?.numberReady ?? 20)
  })
  await writer.mergePatch(DaemonSets, daemonSet.metadata, { spec: { template: template('it:2') } })
  await clock.sleep(120_000)
  expect(fewest).toBe(18)
  const images = (await reader.list(Pods)).map((pod) => pod.spec?.containers?.[0]?.image)
  expect(images).toEqual(Array.from({ length: 20 }, () => 'it:2'))
})
