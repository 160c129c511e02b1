// Clusters that are saved, and rehearsals of them: more than 3 s of processor time.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { interrupted } from '../../src/lib/kube/errors.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { scenarioNamed } from '../../src/simulator/scenarios.ts'
import { runText } from '../lib/run-text.ts'
import {
  objectsIn,
  offline,
  rehearse,
  rehearsed,
  saveCluster,
  type Shape,
  snapshotFolder,
  writeObjects,
} from './rehearse-stage.ts'

const folder = snapshotFolder()
const saved = (name: string, shape: Shape) => saveCluster(join(folder, `${name}.ndjson`), shape)
const write = (name: string, objects: readonly object[]) => writeObjects(join(folder, name), objects)

let platform: string
let plain: string
let other: string
beforeAll(async () => {
  platform = await saved('platform', scenarioNamed('ocp-eus')?.cluster ?? {})
  plain = await saved('plain', { version: 'v1.8.4', vms: 2 })
  other = await saved('other', { version: 'v1.8.4', vms: 2, workers: 2 })
})

const without = (kind: string) => () => {
  const [, ...objects] = objectsIn(plain)
  return objects.filter((object) => object.kind !== kind)
}
/** As if its index were another one. */
const indexed = (change: object) => () => {
  const [index, ...objects] = objectsIn(plain)
  return [{ ...index, ...change }, ...objects]
}

const rows: readonly (readonly [name: string, make: () => readonly object[], says: string])[] = [
  ['one that was cut off', () => objectsIn(plain).slice(0, 50), 'it is truncated: 49 of'],
  ['without a Node', without('Node'), 'kvup cannot rehearse without nodes'],
  ['without a VirtualMachine', without('VirtualMachine'), 'kvup cannot rehearse without VMs'],
  ['without a VMI', without('VirtualMachineInstance'), 'kvup cannot rehearse without VMIs'],
  ['another format', indexed({ apiVersion: 'kvup.io/v2' }), 'its format is kvup.io/v2'],
  [
    'an index without a part that this kvup needs',
    indexed({ unread: undefined, takenBy: 'kvup/0.0.1' }),
    'its index lacks unread, which this kvup needs: kvup/0.0.1 wrote it',
  ],
  ['taken at no time', indexed({ takenAt: 'yesterday' }), 'does not say when it was taken'],
  ['two snapshots', () => [...objectsIn(plain), ...objectsIn(other)], 'it has 2 snapshots'],
  [
    'what kubectl printed of two clusters',
    () => [...objectsIn(plain).slice(1), ...objectsIn(other).slice(1)],
    'it contains two clusters',
  ],
  [
    'nodes of another cluster beside its own',
    () => {
      const strange = objectsIn(plain).filter(({ kind }) => kind === 'Node')
      for (const { metadata } of strange) metadata.uid = `other-${metadata.uid}`
      return [...objectsIn(plain).slice(1), ...strange]
    },
    'is there with two uids',
  ],
  [
    'a cluster with HyperConverged beside one without',
    () => [...objectsIn(plain).slice(1), ...objectsIn(platform).slice(1)],
    'it contains two clusters',
  ],
]

test('a file that is not one whole cluster names what it lacks or has too much of, exit 2', async () => {
  for (const [name, make, says] of rows) {
    const { code, said } = await rehearse(write('row.ndjson', make()), '--to', 'v1.9.0')
    expect([name, code, said]).toEqual([name, 2, expect.stringContaining(says)])
  }
  const half = await rehearse(write('half.ndjson', without('Node')()), '--to', 'v1.9.0')
  expect(half.said).toContain('kvup snapshot --to-file')
  mkdirSync(join(folder, 'folder'))
  write('folder/a.ndjson', objectsIn(plain))
  write('folder/b.ndjson', objectsIn(other))
  const { code, said } = await rehearse(join(folder, 'folder'), '--to', 'v1.9.0')
  expect([code, said]).toEqual([2, expect.stringContaining('more than one moment')])
})

test('another version of kvup, and a time before what is in it was made, are no reason to refuse it', async () => {
  const change = { takenBy: 'kvup/0.0.1', takenAt: '1970-01-01T00:00:00Z' }
  const older = await rehearsed(write('older.ndjson', indexed(change)()), '--to', 'v1.9.0')
  expect(older.code).toBe(0)
  expect(older.vms).toEqual((await rehearsed(plain, '--to', 'v1.9.0')).vms)
})

test('who interrupts a rehearsal is told the line that plays it, and none that changes the cluster', async () => {
  const user = new AbortController()
  const place = { ...offline, columns: 100, signal: user.signal }
  const running = runText(['rehearse', '--from', plain, '--to', 'v1.9.0'], place)
  user.abort(interrupted('SIGINT'))
  const { code, out, err } = await running
  expect(code).toBe(130)
  expect(`${out}${err}`).toContain(`kvup rehearse --from ${plain} --to v1.9.0`)
  expect(`${out}${err}`).not.toContain('kvup upgrade')
})

/** By OLM on a plain cluster and on OpenShift, and a HyperConverged that nobody upgrades by OLM. */
const underOperator: Readonly<Record<string, Shape>> = {
  plain: { olm: okdOlm({ installed: '1.17.3', channel: 'stable-v1.17' }) },
  openshift: scenarioNamed('ocp-eus')?.cluster ?? {},
  'without-olm': {
    version: 'v1.8.4',
    hyperconverged: { stored: 'v1beta1', served: ['v1beta1'], conversion: 'None' },
  },
}

test.each(Object.keys(underOperator))(
  'what HyperConverged brings is not rehearsed: %s; the line that is offered plans it',
  async (name) => {
    const from = await saved(`under-${name}`, underOperator[name] ?? {})
    for (const to of ['1.18.1', '4.18.13', 'v1.9.0']) {
      const { code, out } = await rehearse(from, '--to', to, '-o', 'json')
      const { error } = JSON.parse(out) as { error: { reason: string; remedy: string[] } }
      expect({ code, reason: error.reason }).toEqual({ code: 3, reason: 'not-rehearsed' })
      const [line = ''] = error.remedy
      expect(line).toMatch(new RegExp(`^kvup plan --to ${to} --from ${from} `, 'u'))
    }
    const plan = await runText(['plan', '--to', '1.18.1', '--from', from], offline)
    // Beyond what these have: another line, or nobody who would upgrade it.
    expect(plan).toMatchObject({ code: name === 'openshift' || name === 'without-olm' ? 3 : 0 })
  },
)

test('an OpenShift whose KubeVirt came by its manifest is rehearsed, and the platform named as missing', async () => {
  const { openshift } = scenarioNamed('ocp-eus')?.cluster ?? {}
  const from = await saved('bare', { version: 'v1.4.0', vms: 2, ...(openshift && { openshift }) })
  const { code, said } = await rehearse(from, '--to', 'v1.5.2')
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('The platform: ') as string })
})
