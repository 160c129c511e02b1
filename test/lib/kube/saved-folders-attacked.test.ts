import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { KubeVirts } from '../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Pods } from '../../../src/lib/kube/kinds/workload-kinds.ts'
import { readSaved } from '../../../src/lib/kube/saved/saved-file.ts'

/** A folder that somebody sent, as an archive that may hold anything beside the cluster. */
let folder = ''
const kubevirt = JSON.stringify({
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirt',
  metadata: { name: 'kubevirt', namespace: 'kubevirt', creationTimestamp: '2026-11-20T10:00:00Z' },
})

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kvup-attacked-'))
  writeFileSync(join(folder, 'a.json'), kubevirt)
})
afterEach(() => rmSync(folder, { recursive: true }))

const read = async () => {
  const { reader, takenAt, passedOver } = await readSaved(folder)
  return { kubevirts: (await reader.list(KubeVirts)).length, takenAt, passedOver }
}
const nested = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)

const pod = (name: string) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'x' },
    spec: { text: 'x'.repeat(2000) },
  })
const write = (text: (i: number) => string) => {
  for (let i = 0; i < 3000; i++) writeFileSync(join(folder, `p${i}.json`), text(i))
}

describe('a folder with what is no file of a cluster', () => {
  test.each([
    ['a device', (file: string) => symlinkSync('/dev/zero', file)],
    ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
  ])('%s without an end is passed over, as a dump and as the time of one', async (_, make) => {
    make(join(folder, 'timestamp'))
    make(join(folder, 'z.yaml'))
    expect(await read()).toEqual({
      kubevirts: 1,
      takenAt: new Date('2026-11-20T10:00:00Z'),
      passedOver: [{ file: 'z.yaml', why: 'it is no file: a pipe or a device may have no end' }],
    })
  })

  test('a time that is none is not believed, and a folder of that name is none', async () => {
    mkdirSync(join(folder, 'timestamp'))
    expect((await read()).takenAt).toEqual(new Date('2026-11-20T10:00:00Z'))
    rmSync(join(folder, 'timestamp'), { recursive: true })
    writeFileSync(join(folder, 'timestamp'), '2099-13-45T99:99:99Z\n')
    expect((await read()).takenAt).toEqual(new Date('2026-11-20T10:00:00Z'))
  })

  test('an object that is nested without end is passed over in a folder, and refused as the only file', async () => {
    const deep = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":${nested(100_000)}}`
    writeFileSync(join(folder, 'z.json'), deep)
    const why = 'it is nested in more than 1000 levels'
    expect((await read()).passedOver).toEqual([
      { file: 'z.json', why: expect.stringContaining(why) as string },
    ])
    await expect(readSaved(join(folder, 'z.json'))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(why) as string,
    })
  })

  test.each([
    ['labels: kub', 'metadata:\n  name: x\n  labels: kub'],
    ['owners', 'metadata:\n  name: x\n  ownerReferences:\n  - apiVer'],
    ['status', 'metadata:\n  name: x\nstatus: cond'],
    ['conditions', 'metadata:\n  name: x\nstatus:\n  conditions:\n  - lastTr'],
  ])('YAML that was cut off is no whole list: %s', async (_, end) => {
    const text = `apiVersion: v1\nkind: List\nitems:\n- ${pod('whole')}\n- apiVersion: v1\n  kind: Pod\n  ${end.replaceAll('\n', '\n  ')}\n`
    writeFileSync(join(folder, 'z.yaml'), text)
    const why = 'Pod x is not as the API has it, or cut off'
    expect((await read()).passedOver).toEqual([
      { file: 'z.yaml', why: expect.stringContaining(why) as string },
    ])
    await expect(readSaved(join(folder, 'z.yaml'))).rejects.toMatchObject({ exitCode: 2 })
  })

  // Each was compared with all before it: more than a minute.
  test('three thousand files beside one another are looked at once each', async () => {
    write((i) => pod(`p${i}`))
    const began = performance.now()
    const { reader } = await readSaved(folder)
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(await reader.list(Pods)).toHaveLength(3000)
  })
})
