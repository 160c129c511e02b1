import { expect, test } from 'vitest'
import { metadataOf } from '../../../src/lib/cluster/kind.ts'
import { ConfigMaps } from '../../../src/lib/cluster/kinds/core.ts'
import { RecordingReader } from '../../../src/lib/cluster/saved/recording-reader.ts'
import { storeCluster } from '../../../src/lib/simulator/api/client.ts'
import { example } from '../facts/example.ts'

test('what was asked for by its metadata alone is kept whole: who reads the file may want more of it', async () => {
  const { reader, writer } = storeCluster(example('settled').store)
  const metadata = { name: 'kept', namespace: 'kubevirt' }
  await writer.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })
  const recorder = new RecordingReader(reader)
  await recorder.list(ConfigMaps, { namespace: 'kubevirt' })
  await recorder.list(metadataOf(ConfigMaps), { namespace: 'kubevirt' })
  expect(recorder.objects()).toContainEqual(expect.objectContaining({ data: { a: 'b' } }))
})
