import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kubeVirtOf, lockHolder, methodsOf, openOverrides } from '../../installation.ts'
import { kvup } from '../../kvup.ts'
import { type Lab, operatorManifest, startLab } from '../../lab.ts'
import { runMachines } from '../../machines.ts'

const methods = ['LiveMigrate', 'Evict']
const base = path.dirname(path.dirname(operatorManifest('v1.8.4')))
let lab: Lab

beforeAll(async () => {
  lab = await startLab({ name: 'chain-stopped', operator: 'v1.6.0', methods })
  await runMachines(lab, [])
})
afterAll(() => lab?.stop())

test('with VMs that cannot move it ends between two releases, names them, and leaves nothing paused', async () => {
  const outcome = await kvup(lab, [
    'upgrade',
    '--to',
    'v1.8.4',
    '--manifest-base',
    base,
    '--via',
    'v1.7.0',
    '--accept',
    'kubernetes-window,evictions',
    '--yes',
    '--stable-for',
    '15s',
  ])
  expect(outcome).toMatchObject({ code: 3 })
  expect(outcome.stderr).toContain('demo/stuck')
  expect(outcome.stderr).toContain('demo/failing')
  expect(outcome.stderr).not.toContain('demo/web-1')
  const kubevirt = await kubeVirtOf(lab)
  expect(kubevirt.status.observedKubeVirtVersion).toBe('v1.7.0')
  expect(methodsOf(kubevirt)).toEqual(methods)
  expect(await openOverrides(lab)).toEqual([])
  expect(await lockHolder(lab)).toBeUndefined()
}, 3_600_000)
