import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectRolled } from './installation.ts'
import { paste, startKvup, suggestion } from './kvup.ts'
import { type Lab, startLab } from './lab.ts'

interface Pods {
  items: {
    metadata: { name: string }
    status: { containerStatuses?: { state: { waiting?: { reason: string } } }[] }
  }[]
}

let lab: Lab

beforeAll(async () => {
  lab = await startLab({
    name: 'wrong-tag',
    operator: 'v1.8.4',
    imageTag: 'v1.8.4',
    methods: ['LiveMigrate'],
  })
})
afterAll(() => lab.stop())

async function podThatCannotPull(): Promise<string | undefined> {
  const selector = 'kubevirt.io=virt-operator-strategy-dumper'
  const { items } = await lab.object<Pods>('get', '-n', 'kubevirt', 'pods', '-l', selector)
  return items.find(({ status }) =>
    status.containerStatuses?.some(({ state }) =>
      /^(ErrImagePull|ImagePullBackOff)$/.test(state.waiting?.reason ?? ''),
    ),
  )?.metadata.name
}

test('a tag that cannot be pulled: image and pod are named within 30 s, and the way back is printed and works', async () => {
  const run = startKvup(lab, [
    'upgrade',
    '--to',
    'v1.8.5',
    '--yes',
    '--timeout',
    '60s',
    '--method',
    'image-tag',
    '--accept',
    'release-unknown',
  ])
  void run.ended.catch(() => {})
  let pod: string | undefined
  await eventually('a pod that cannot pull', 50, async () => (pod = await podThatCannotPull()) !== undefined)
  const failedAt = Date.now()
  await run.line(new RegExp(pod!))
  expect(Date.now() - failedAt).toBeLessThan(30_000)
  const { code, stdout, stderr } = await run.ended
  expect(stdout + stderr).toContain('virt-operator:v1.8.5')
  expect(code).toBe(4)

  const back = suggestion(stdout + stderr, /^kvup upgrade --to v1\.8\.4/)
  expect(await paste(lab, `${back} --yes --stable-for 5s`)).toMatchObject({ code: 0 })
  await expectRolled(lab, 'v1.8.4', ['LiveMigrate'])
})
