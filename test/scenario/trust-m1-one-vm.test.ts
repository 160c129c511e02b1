// Two EUS upgrades among them: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { keptBaseline } from '../../src/lib/eus/baseline.ts'
import { type VirtualMachine, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { Refusal } from '../../src/simulator/api/api-refusal.ts'
import type { Admission } from '../../src/simulator/api/store.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import { overrideAnnotation, overrideLabel } from '../../src/lib/vms/unblock/vm-overrides.ts'
import { runText } from '../lib/run-text.ts'
import { abort, playLent, run } from './eus/lending-window.ts'
import { byManifest, play, type Stage } from './stage.ts'

const vms: readonly VmShape[] = ['a-tenant', 'db', 'job'].map((name) => ({
  name,
  notMigratable: 'DisksNotLiveMigratable',
}))
const shape = { ...byManifest, vms }

function vmOf(stage: Stage, name: string): VirtualMachine {
  const found: VirtualMachine | undefined = stage.simulated.store.read(VirtualMachines, {
    name,
    namespace: 'demo',
  })
  if (!found) throw new Error(`no VM ${name}`)
  return found
}

const strategies = (stage: Stage) =>
  vms.map(({ name }) => vmOf(stage, name).spec?.template?.spec?.evictionStrategy)
const notes = (stage: Stage) =>
  vms.map(({ name }) => vmOf(stage, name).metadata.annotations?.[overrideAnnotation] !== undefined)

const unblocked = (stage: Stage) => stage.unblock({ accept: ['data-loss'] })
const kvup = (stage: Stage, line: string) =>
  runText(line.split(' '), { cluster: stage.cluster, clock: stage.clock })

/** What a tenant may write on his own VM. */
function forge(stage: Stage, was: string): void {
  const fields = [
    { path: '/spec/template/spec/evictionStrategy', was: { present: true, value: was }, vms: 'None' },
  ]
  const note = JSON.stringify({ by: 'ops@jump', at: '2026-01-10T12:00:00Z', fields })
  const body = {
    metadata: { labels: { [overrideLabel]: 'unblock' }, annotations: { [overrideAnnotation]: note } },
  }
  const ref = { name: 'a-tenant', namespace: 'demo' }
  stage.simulated.store.patch(VirtualMachines, ref, { type: 'merge', body }, { manager: 'tenant' })
}

/** Takes every write of this VM; false to let them through again. */
function refusing(stage: Stage, name: string, answer: (admission: Admission) => void): () => void {
  const hook = (admission: Admission) => {
    if (admission.kind.kind === 'VirtualMachine' && admission.object.metadata.name === name) answer(admission)
  }
  stage.simulated.store.admission.add(hook)
  return () => void stage.simulated.store.admission.delete(hook)
}

test.each(['None; rm -rf /', '', 'livemigrate'])(
  'M1 a former value that is none of KubeVirt’s (%j) is written nowhere, and keeps nobody else from theirs',
  async (was) => {
    await play(shape, async (stage) => {
      await unblocked(stage)
      forge(stage, was)
      const ended = await stage.restore()
      expect(ended).toMatchObject({ code: 3, error: { reason: 'override-unreadable' } })
      expect(strategies(stage)).toEqual(['None', 'LiveMigrate', 'LiveMigrate'])
      expect(notes(stage)).toEqual([true, false, false])
      expect(ended.error?.remedy.join()).toMatch(
        /^kvup restore-settings vm\/demo\/a-tenant --keep-current +keeps the present value/,
      )
    })
  },
)

const answers = [
  ['the webhook of KubeVirt', 422, 'Invalid', 'evictionStrategy is set with an unrecognized option: X'],
  ['a webhook of its namespace', 400, 'BadRequest', 'admission webhook "own.shop" denied the request: no'],
  ['a right that is missing there', 403, 'Forbidden', 'virtualmachines "a-tenant" is forbidden'],
] as const

test.each(answers)('M1 what %s refuses of one VM is the line of that VM', async (_, ...refusal) => {
  await play(shape, async (stage) => {
    await unblocked(stage)
    const letThrough = refusing(stage, 'a-tenant', () => {
      throw new Refusal(...refusal)
    })
    const ended = await stage.restore()
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vm-refused' } })
    expect(ended.error?.notes.join()).toContain('demo/a-tenant: ')
    expect(ended.error?.remedy[0]).toMatch(/^kvup restore-settings vm\/demo\/a-tenant /)
    expect(ended.documents.at(-1)).toMatchObject({
      vms: [
        { name: 'a-tenant', outcome: 'asks', reason: 'vm-refused' },
        { name: 'db', outcome: 'restored' },
        { name: 'job', outcome: 'restored' },
      ],
    })
    expect(strategies(stage)).toEqual(['None', 'LiveMigrate', 'LiveMigrate'])
    expect(notes(stage)).toEqual([true, false, false])
    letThrough()
    expect((await kvup(stage, 'restore-settings vm/demo/a-tenant --yes')).code).toBe(0)
    expect(strategies(stage)).toEqual(['LiveMigrate', 'LiveMigrate', 'LiveMigrate'])
  })
})

test('M1 what writes a VM back right away keeps nobody else from theirs', async () => {
  await play(shape, async (stage) => {
    await unblocked(stage)
    refusing(stage, 'a-tenant', ({ object }) => {
      const { spec } = object as VirtualMachine
      if (spec?.template?.spec) spec.template.spec.evictionStrategy = 'None'
    })
    const ended = await stage.restore()
    expect(ended).toMatchObject({ code: 3, error: { reason: 'vm-refused' } })
    expect(ended.error?.notes.join()).toContain('was set back, but reads otherwise')
    expect(strategies(stage)).toEqual(['None', 'LiveMigrate', 'LiveMigrate'])
  })
})

test('M1 --keep-current of one VM ends its temporary change alone, and leaves paused updates paused', async () => {
  await play(shape, async (stage) => {
    await unblocked(stage)
    expect(await stage.hold()).toMatchObject({ code: 0 })
    const { code } = await kvup(stage, 'restore-settings vm/demo/a-tenant --keep-current --yes')
    expect(code).toBe(0)
    expect(notes(stage)).toEqual([false, true, true])
    expect(stage.methods).toEqual([])
    const again = await kvup(stage, 'restore-settings vm/demo/a-tenant --yes')
    expect(again).toMatchObject({ code: 0 })
    expect(again.err).toContain('VM demo/a-tenant has no temporary change')
    expect((await kvup(stage, 'restore-settings vm/a-tenant --yes')).code).toBe(2)
  })
})

const no = () => {
  throw new Refusal(422, 'Invalid', 'admission webhook "own.shop" denied the request: no')
}

test.each([
  ['run', run],
  ['abort', abort],
])('M1 a VM that refuses keeps no window open: eus %s', (_, command) =>
  playLent(async (stage) => {
    expect(await run(stage, {}, { until: 'rolled-worker' })).toMatchObject({ code: 0 })
    refusing(stage, 'db', no)
    const ended = await command(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.text).toContain('kvup restore-settings vm/demo/db')
    expect(await keptBaseline(stage.journal, 'eus to 4.20')).toBeUndefined()
  }),
)
