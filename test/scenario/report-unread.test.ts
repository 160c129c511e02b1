import { expect, test } from 'vitest'
import type { Cluster } from '../../src/lib/cluster/cluster.ts'
import { VirtualMachineInstances } from '../../src/lib/cluster/kinds/virtual-machines.ts'
import { readerWith } from '../../src/lib/cluster/reader-with.ts'
import { ApiError } from '../../src/lib/system/errors.ts'
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
    expect(ended).toMatchObject({ code: 0, documents: [{ outcome: 'done' }] })
    expect(ended.text).toContain('may not be read: virtualmachineinstances, outdated VMs')
  })
})
