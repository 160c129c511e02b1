import { expect, it } from 'vitest'
import { type Deployment, Deployments, Pods } from '../../../../src/lib/kube/kinds/workload-kinds.ts'
import { Events, Nodes } from '../../../../src/lib/kube/kinds/core-kinds.ts'
import { condition } from '../../../../src/lib/kube/object.ts'
import { animate, node, template } from './animate.ts'

const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'it', namespace: 'default' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'it' } }, template: template('it:1') },
}

it('a Deployment gets its pods, and its counts', async () => {
  const { clock, reader } = animate([node('a'), node('b'), deployment])
  await clock.sleep(10_000)
  const [found] = await reader.list(Deployments)
  expect(found?.status).toMatchObject({
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    observedGeneration: 1,
  })
  const pods = await reader.list(Pods)
  expect(new Set(pods.map((pod) => pod.spec?.nodeName))).toEqual(new Set(['a', 'b']))
})

it('an image that is missing: ErrImagePull, ImagePullBackOff, events; and it starts once the image is there', async () => {
  const { clock, reader, faults } = animate([node('a'), deployment], { unpullable: '^it:1$' })
  await clock.sleep(2000)
  const waiting = async () =>
    (await reader.list(Pods)).map((pod) => pod.status?.containerStatuses?.[0]?.state?.waiting?.reason)
  expect(await waiting()).toEqual(['ErrImagePull', 'ErrImagePull'])
  await clock.sleep(3000)
  expect(await waiting()).toEqual(['ImagePullBackOff', 'ImagePullBackOff'])
  const reasons = (await reader.list(Events)).map((event) => event.reason)
  expect(reasons).toEqual(
    expect.arrayContaining(['Failed', 'BackOff', 'Scheduled', 'SuccessfulCreate', 'ScalingReplicaSet']),
  )
  faults.set({ unpullable: undefined })
  await clock.sleep(30_000)
  expect((await reader.list(Deployments))[0]?.status?.readyReplicas).toBe(2)
})

it('a deleted pod is Terminating for half a second, and replaced', async () => {
  const { clock, reader, writer } = animate([node('a'), deployment])
  await clock.sleep(10_000)
  const [pod] = await reader.list(Pods)
  await writer.delete(Pods, pod?.metadata ?? { name: '' })
  const [going] = await reader.list(Pods, { name: pod?.metadata.name })
  expect(going?.metadata.deletionTimestamp).toBeDefined()
  await clock.sleep(10_000)
  const names = (await reader.list(Pods)).map(({ metadata }) => metadata.name)
  expect(names).toHaveLength(2)
  expect(names).not.toContain(pod?.metadata.name)
})

it('a node whose kubelet is silent: NotReady, tainted, its pods not ready and never gone', async () => {
  const { clock, reader, writer, faults } = animate([node('a'), deployment])
  await clock.sleep(10_000)
  faults.set({ notReady: ['a'] })
  await clock.sleep(1000)
  const [silent] = await reader.list(Nodes)
  expect(condition(silent ?? {}, 'Ready')?.status).toBe('Unknown')
  expect(silent?.spec?.taints?.map((taint) => taint.key)).toEqual(['node.kubernetes.io/unreachable'])
  expect((await reader.list(Deployments))[0]?.status?.readyReplicas).toBe(0)
  const [pod] = await reader.list(Pods)
  await writer.delete(Pods, pod?.metadata ?? { name: '' })
  await clock.sleep(600_000)
  expect(await reader.list(Pods, { name: pod?.metadata.name })).toHaveLength(1)
})

it('a container that ends is restarted with longer and longer pauses', async () => {
  const { clock, reader } = animate([node('a'), deployment], { crashing: '^it:1$' })
  await clock.sleep(5000)
  const container = async () => (await reader.list(Pods))[0]?.status?.containerStatuses?.[0]
  expect((await container())?.state?.waiting?.reason).toBe('CrashLoopBackOff')
  await clock.sleep(60_000)
  expect((await container())?.restartCount).toBe(3)
})
