import { expect, test } from 'vitest'
import { type Cluster, readerWith } from '../../src/lib/kube/cluster.ts'
import { VirtualMachineInstances } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { ApiError } from '../../src/lib/kube/errors.ts'
import { eusRunOn, small418 } from './eus/window-stage.ts'
import { byTag, play, type Stage } from './stage.ts'

/** VMIs cannot be read any more once the methods are given back. */
function blindAtTheEnd(stage: Stage): Cluster {
  const { reader } = stage.cluster
  const isOver = () => stage.kubevirt.status?.observedKubeVirtVersion === 'v1.8.4' && stage.methods.length > 0
  const pages: typeof reader.pages = (kind, where) => {
    if (kind.plural === VirtualMachineInstances.plural && isOver())
      throw new ApiError(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')
    return reader.pages(kind, where)
  }
  return {
    ...stage.cluster,
    reader: readerWith(reader, { pages }),
  }
}

test('an upgrade that is done stays done where its report cannot be read', async () => {
  await play({ ...byTag, vms: 1 }, async (stage) => {
    const ended = await stage.upgrade('v1.8.4', {}, { cluster: blindAtTheEnd(stage) })
    const unread = ['virtualmachineinstances', 'outdated VMs', 'VMs that should run']
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done', unread }] })
    expect(ended.text).toContain(`not checked, for it could not be read: ${unread.join(', ')}`)
    expect(ended.text).not.toContain('kept running')
  })
})

test('a window that is done stays done where volumes cannot be read, and says that nothing is said of them', () =>
  play(small418, async (stage) => {
    const { reader } = stage.cluster
    const pages: typeof reader.pages = (kind, where) => {
      if (kind.plural === 'persistentvolumeclaims')
        throw new ApiError(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')
      return reader.pages(kind, where)
    }
    const cluster = { ...stage.cluster, reader: readerWith(reader, { pages }) }
    const unread = ['persistentvolumeclaims']
    const ended = await eusRunOn(stage, { until: 'accepted-4.19' }, { cluster })
    expect(ended).toMatchObject({ code: 0, documents: [{ unread }] })
    expect(ended.text).toContain('not checked, for it could not be read: persistentvolumeclaims')
  }))
