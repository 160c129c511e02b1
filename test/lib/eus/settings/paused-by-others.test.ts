import { expect, test } from 'vitest'
import { machineHealthCheckPaused } from '../../../../src/lib/eus/settings/eus-settings.ts'
import { restoreField, takeField } from '../../../../src/lib/eus/settings/setting-steps.ts'
import { Borrowing, health, healthCheck } from './borrowing.ts'

const annotation = 'cluster.x-k8s.io/paused'
const taking = { id: 'take', title: 'take', who: 'jane@here', procedure: 'eus to 4.20' }
const restoring = { id: 'give', title: 'give' }

function setUp(annotations?: Record<string, string>) {
  const world = new Borrowing([healthCheck(annotations)])
  const field = machineHealthCheckPaused({ ...health, uid: '' })
  const snapshot = machineHealthCheckPaused({ ...health, uid: world.uidOf(field) })
  return { world, field: snapshot, before: world.bare(snapshot) }
}

test.each(['', 'true', 'by hand'])(
  'a health check that others paused with %j stays theirs',
  async (value) => {
    const { world, field, before } = setUp({ [annotation]: value })
    await world.run([takeField(field, taking)])
    expect(world.bare(field)).toEqual(before)
    expect(await world.journal().overrides()).toEqual([])
    await world.run([restoreField(field, restoring)])
    expect(world.bare(field)).toEqual(before)
  },
)

test('one that others paused after kvup had is asked about, and not taken away from them', async () => {
  const { world, field } = setUp()
  await world.run([takeField(field, taking)])
  await world.cluster.writer.mergePatch(field.kind, field.ref, {
    metadata: { annotations: { [annotation]: '' } },
  })
  await expect(world.run([restoreField(field, restoring)])).rejects.toThrow(
    expect.objectContaining({ reason: 'changed-meanwhile' }),
  )
})
