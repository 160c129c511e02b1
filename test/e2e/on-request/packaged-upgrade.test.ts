import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled } from '../installation.ts'
import { kvup } from '../kvup.ts'
import { type Lab, startLab } from '../lab.ts'

const root = path.dirname(path.dirname(path.dirname(import.meta.dirname)))
const out = mkdtempSync(path.join(tmpdir(), 'kvup-packaged-'))
let lab: Lab

beforeAll(async () => {
  const packaging = [path.join(root, 'build/package.ts'), 'linux-x64', '--out', out]
  await promisify(execFile)(process.execPath, packaging)
  lab = await startLab({ name: 'package', operator: 'v1.8.4', imageTag: 'v1.7.0', methods: ['LiveMigrate'] })
})
afterAll(async () => {
  await lab.stop()
  rmSync(out, { recursive: true })
})

test('the one file upgrades KubeVirt v1.7.0 to v1.8.4 on a real control plane, with no Node in its path', async () => {
  const program = [path.join(out, 'linux-x64', 'kvup')]
  const args = ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '5s']
  expect(await kvup(lab, args, { program, env: { PATH: '/nonexistent' } })).toMatchObject({ code: 0 })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
})
