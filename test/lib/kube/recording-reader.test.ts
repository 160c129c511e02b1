import { expect, test } from 'vitest'
import { metadataOf } from '../../../src/lib/kube/object.ts'
import { ConfigMaps, Nodes } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { RecordingReader, trimmed } from '../../../src/lib/kube/saved/recording-reader.ts'
import { storeCluster } from '../../../src/simulator/api/store-client.ts'
import { example } from '../kubevirt/example.ts'

test('what was asked for by its metadata alone is kept whole: who reads the file may want more of it', async () => {
  const { reader, writer } = storeCluster(example('healthy').store)
  const metadata = { name: 'kept', namespace: 'kubevirt' }
  await writer.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { a: 'b' } })
  const recorder = new RecordingReader(reader)
  await recorder.list(ConfigMaps, { namespace: 'kubevirt' })
  await recorder.list(metadataOf(ConfigMaps), { namespace: 'kubevirt' })
  expect(recorder.objects()).toContainEqual(expect.objectContaining({ data: { a: 'b' } }))
})

test('of one cluster it is the same, whichever answer comes first', async () => {
  const { reader, reviewer } = storeCluster(example('healthy').store)
  const asked = [
    (recorder: RecordingReader) => recorder.list(Nodes),
    (recorder: RecordingReader) => recorder.list(ConfigMaps, { namespace: 'kubevirt' }),
    (recorder: RecordingReader) => recorder.versions('kubevirt.io'),
    (recorder: RecordingReader) => recorder.versions('apps'),
    (recorder: RecordingReader) =>
      recorder.reviewing(reviewer).can({ verb: 'list', group: '', resource: 'nodes' }),
    (recorder: RecordingReader) =>
      recorder.reviewing(reviewer).can({ verb: 'get', group: '', resource: 'pods' }),
  ]
  const said = async (questions: typeof asked) => {
    const recorder = new RecordingReader(reader)
    for (const ask of questions) await ask(recorder)
    return JSON.stringify([recorder.objects(), recorder.recorded()])
  }
  expect(await said(asked.toReversed())).toBe(await said(asked))
})

test('of a VM everything is kept that release data judge it by, and nothing that says whose it is', () => {
  const devices = {
    interfaces: [{ name: 'default', macAddress: '02:00:00:00:00:01', macvtap: { any: 1 } }],
    filesystems: [{ name: 'shared', virtiofs: {} }],
    logSerialConsole: false,
    disks: [{ name: 'root', serial: 'SER-1' }],
  }
  const domain = {
    firmware: { serial: 'SER-2', uuid: 'u', bootloader: { efi: { secureBoot: true } } },
    devices,
  }
  const volumes = [
    { name: 'root', containerDisk: { image: 'registry.example/whose' } },
    { name: 'extra', dataVolume: { name: 'whose', hotpluggable: true } },
  ]
  const instance = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'a', namespace: 'vms' },
    spec: { domain, volumes },
  }
  expect(trimmed(instance)).toHaveProperty('spec', {
    domain: {
      firmware: { bootloader: { efi: {} } },
      devices: { interfaces: [{ macvtap: {} }], filesystems: [{}], logSerialConsole: false },
    },
    volumes: [
      { name: 'root', containerDisk: {} },
      { name: 'extra', dataVolume: { hotpluggable: true } },
    ],
  })
})
