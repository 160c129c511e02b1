import { expect, test } from 'vitest'
import { type Pod, Pods } from '../../src/lib/kube/kinds/workload-kinds.ts'
import type { Stage } from './stage.ts'
import { documentOf, migrationsIn, outdated } from './updates.ts'

const images = ({ spec }: Pod) => spec?.containers?.map(({ image }) => image ?? '') ?? []

/** A webhook that lets every pod pull from a mirror: to KubeVirt the image is then another one (facts 3.1). */
function rewriteImages({ simulated: { store } }: Stage): void {
  store.watch(Pods, ({ object }) => {
    const pod: Pod | undefined = store.read(Pods, object.metadata)
    if (!pod?.metadata.name.startsWith('virt-launcher-') || images(pod)[0]?.startsWith('mirror/')) return
    const containers = pod.spec?.containers?.map((one) => ({ ...one, image: `mirror/${one.image}` }))
    store.patch(Pods, pod.metadata, { type: 'merge', body: { spec: { containers } } })
  })
}

test('W3 a VM that is outdated still after its migration is not migrated again, by this run or the next', async () => {
  await outdated([{ name: 'a' }, { name: 'b' }], async (stage) => {
    rewriteImages(stage)
    const why = expect.stringContaining('as if something rewrites images')
    const ended = await stage.update({ parallel: '1' })
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vms-failed' } })
    expect(documentOf(ended).items).toMatchObject([
      { name: 'a', outcome: 'failed', why },
      { name: 'b', outcome: 'failed', why },
    ])
    expect(await stage.update({ maxFailures: '1' })).toMatchObject({
      code: 3,
      error: { reason: 'too-many-failures' },
    })
    expect(migrationsIn(stage)).toHaveLength(2)
  })
})
