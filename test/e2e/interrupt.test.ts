import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRolled, kubeVirtOf, methodsOf, openOverrides } from './installation.ts'
import { type Running, startKvup, startPasted, suggestion } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

let lab: Lab

beforeAll(async () => {
  lab = await startLab({
    name: 'interrupt',
    operator: 'v1.8.4',
    imageTag: 'v1.7.0',
    methods: ['LiveMigrate'],
  })
})
afterAll(() => lab.stop())

/** Interrupts it, and returns the line that it prints to go on with. */
async function interrupted(run: Running, signal: 'SIGINT' | 'SIGTERM'): Promise<string> {
  const at = Date.now()
  run.signal(signal)
  const { code, stderr } = await run.ended
  expect.soft(Date.now() - at).toBeLessThan(2000)
  expect.soft(code).toBe(signal === 'SIGINT' ? 130 : 143)
  return suggestion(stderr, /^kvup upgrade\b.*--to v1\.8\.4/)
}

test('Ctrl-C and SIGTERM end every phase within 2 s, and the line that is printed goes on from there', async () => {
  const first = startKvup(lab, ['upgrade', '--to', 'v1.8.4', '--yes', '--stable-for', '20s'])
  await first.line(/Prepare: done/)
  const second = startPasted(lab, await interrupted(first, 'SIGINT'))

  await second.line(/virt-handler: .*\d of/)
  const third = startPasted(lab, await interrupted(second, 'SIGTERM'))
  // somebody reads the screen and goes on: nothing was given back while the components move
  expect(methodsOf(await kubeVirtOf(lab)) ?? []).toEqual([])
  expect(await openOverrides(lab)).toHaveLength(1)

  await third.line(/Verify: stable for/)
  const last = startPasted(lab, await interrupted(third, 'SIGINT'))
  expect(await last.ended).toMatchObject({ code: 0 })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
})
