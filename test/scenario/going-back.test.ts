import { describe, expect, test } from 'vitest'
import { check } from '../../src/commands/check/check.ts'
import { forecast } from '../../src/commands/workloads/run-forecast.ts'
import { outdated } from '../../src/commands/workloads/list-outdated.ts'
import {
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { isWrite } from '../../src/simulator/api/api-request.ts'
import { byTag, minute, play, type Stage } from './stage.ts'

/** A downgrade that was accepted tells one story: nothing migrates to an older virt-launcher, and nobody is told that it will. */
const shape = {
  ...byTag,
  version: 'v1.8.4',
  workers: 3,
  vms: [{ name: 'web-1' }, { name: 'web-2' }, { name: 'web-3' }],
} as const
const accept = ['downgrade', 'kubernetes-window', 'issue-17029']
const options = { method: 'image-tag' as const, accept }
const paused =
  'automatic VM updates are still paused at the end; kvup workloads resume-updates resumes them, once no VM runs a newer virt-launcher'
const needs =
  '3 VMs run a newer virt-launcher than v1.7.0: a migration to an older one fails, each needs a restart'
/** What is true of going forward alone. */
const forward =
  /live-?migrates|KubeVirt migrates|migrates 3|Afterwards KubeVirt|new in v1\.7\.0|does not support going back once|moves one VM first|old virt-launcher;/u

const launchers = ({ simulated: { store } }: Stage) =>
  (store.list(VirtualMachineInstances).items as VirtualMachineInstance[]).map(
    ({ status }) => status?.launcherContainerImageVersion?.split(':')[1],
  )

describe('a downgrade that was accepted', () => {
  test('one story of plan, run and lists: updates stay paused, steps in the same order, no VM is moved, each needs a restart', async () => {
    await play(shape, async (stage) => {
      const { code, text, documents } = await stage.plan('v1.7.0', options, { output: 'wide' })
      expect(code).toBe(0)
      expect(text).toContain(paused)
      expect(text).toContain(needs)
      expect(text).toContain('virt-api is replaced first: APIs that v1.7.0 does not have then fail')
      expect(text).not.toMatch(forward)
      const plan = (documents[0] as unknown as { steps: { id: string; risk: { undo: string } }[] }).steps
      const planned = plan.map(({ id }) => id)
      expect(planned).not.toContain('resume-workload-updates')
      // Nothing that the downgrade has replaced keeps from going on to what was installed.
      for (const id of ['virt-api', 'virt-controller', 'virt-handler'])
        expect(plan.find((step) => step.id === id)?.risk.undo).toBe('kvup upgrade --to v1.8.4')

      const mark = stage.mark
      const ended = await stage.upgrade('v1.7.0', options)
      expect(ended).toMatchObject({
        code: 0,
        documents: [{ workloads: { outdated: 3, restart: 3, paused: true } }],
      })
      const began = ended.events.flatMap((event) => (event.kind === 'step-started' ? [event.step.id] : []))
      const { steps, next } = ended.documents[0] as unknown as { steps: { id: string }[]; next: string[] }
      expect(steps.map(({ id }) => id)).toEqual(planned)
      expect([...new Set(began)]).toEqual(planned)
      // virt-operator itself writes them in that order as well.
      const rolled = stage.simulated.store.audit
        .slice(mark)
        .filter((one) => one.group === 'apps' && isWrite(one) && one.namespace === 'kubevirt')
        .flatMap(({ name = '', user }) => (user.includes('operator') && planned.includes(name) ? [name] : []))
      expect([...new Set(rolled)]).toEqual(['virt-api', 'virt-controller', 'virt-handler'])
      expect(planned.filter((id) => rolled.includes(id))).toEqual([...new Set(rolled)])
      const entries = (await stage.journal.entries()).filter(({ what }) => what === 'intends')
      const intended = entries.map(({ step }) => step)
      expect(intended).toEqual(planned.filter((id) => intended.includes(id)))

      expect(ended.text).not.toMatch(forward)
      expect(ended.text).toContain('3 VMs on a newer virt-launcher need a restart')
      expect(next).toEqual(['kvup workloads outdated     lists the VMs that need a restart'])
      expect(stage.methods).toEqual([])
      await stage.until(10 * minute)
      expect(launchers(stage)).toEqual(['v1.8.4', 'v1.8.4', 'v1.8.4'])

      const rows = await stage.perform((cx) => outdated(cx, { allNamespaces: true }))
      const checked = await stage.perform((cx) => check(cx, { accept: [], method: 'auto' }))
      expect(checked.text).toContain(
        '3 running VMs have a newer virt-launcher, and do not migrate to an older one. Each needs a restart',
      )
      expect(rows.text).toContain('need a restart')
      expect(rows.text).toContain(
        'runs the virt-launcher of v1.8.4, newer than v1.7.0: a migration to an older one fails; it needs a restart',
      )
      expect(rows.text).toMatch(
        /3 outdated: 3 need a restart .* kvup workloads outdated -o wide +shows what helps each; a restart loses the data in the pods of 3 VMs$/mu,
      )
      const told = await stage.perform((cx) => forecast(cx, { allNamespaces: true }))
      expect(told.text).toContain('3 need a restart')
      for (const one of [rows, told]) expect(one.text).not.toMatch(/migrates?\b(?! to it| to an older)/u)

      const again = await stage.upgrade('v1.7.0', options)
      expect(again).toMatchObject({ code: 0, documents: [{ outcome: 'nothing-to-do' }] })
      expect(again.text).toContain('resumes automatic VM updates, once no VM runs a newer virt-launcher')
      expect(stage.methods).toEqual([])
      const before = stage.mark
      const refused = await stage.restore()
      expect(refused).toMatchObject({ code: 3 })
      expect(refused.text).toContain(
        '3 VMs run a newer virt-launcher than KubeVirt: with automatic VM updates KubeVirt forever retries to migrate each to the older one, and fails',
      )
      expect(refused.text).toContain('kvup workloads outdated')
      expect(stage.writes(before)).toEqual([])
      expect(await stage.restore({ accept: ['newer-launchers'] })).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })

  test('the line that outdated names restarts them in waves; then resuming moves nothing', async () => {
    await play(shape, async (stage) => {
      await stage.upgrade('v1.7.0', options)
      const restarts = { restartUnmigratable: true, accept: ['data-loss'] }
      expect(await stage.update(restarts)).toMatchObject({ code: 0 })
      expect(launchers(stage)).toEqual(['v1.7.0', 'v1.7.0', 'v1.7.0'])
      expect(await stage.restore()).toMatchObject({ code: 0 })
      await stage.until(10 * minute)
      expect(stage.simulated.store.list(VirtualMachineInstanceMigrations).items).toEqual([])
    })
  })

  test('forward again they are resumed at the end', async () => {
    await play(shape, async (stage) => {
      await stage.upgrade('v1.7.0', options)
      const forth = await stage.upgrade('v1.8.4', { method: 'image-tag' })
      expect(forth).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })

  test('also where an upgrade that was cut off had paused them', async () => {
    const vms = [{ name: 'web-1' }, { name: 'late', runStrategy: 'Manual' }] as const
    await play({ ...shape, vms, version: 'v1.7.0', operator: 'v1.8.4' }, async (stage) => {
      expect(await stage.upgrade('v1.8.4', { leavePaused: true })).toMatchObject({ code: 0 })
      await stage.start('late')
      expect((await stage.plan('v1.7.0', options)).text).toContain(
        '1 VM runs a newer virt-launcher than v1.7.0: a migration to an older one fails, it needs a restart',
      )
      expect(await stage.upgrade('v1.7.0', options)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
      expect(await stage.journal.overrides()).toMatchObject([
        { goesBack: 'v1.7.0', procedure: 'upgrade to v1.8.4', was: { value: ['LiveMigrate'] } },
      ])
      expect(await stage.upgrade('v1.7.0', options)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual([])
    })
  })

  test('where no VM runs a newer virt-launcher nothing is to be waited for: they are resumed', async () => {
    await play({ ...shape, vms: [] }, async (stage) => {
      const plan = await stage.plan('v1.7.0', options)
      expect(plan.text).not.toMatch(forward)
      expect(plan.text).not.toContain('stay paused at the end')
      await stage.upgrade('v1.7.0', { ...options, until: 'pause-workload-updates' })
      expect((await stage.journal.overrides()).map(({ goesBack }) => goesBack)).toEqual([undefined])
      expect(await stage.upgrade('v1.7.0', options)).toMatchObject({ code: 0 })
      expect(stage.methods).toEqual(['LiveMigrate'])
    })
  })
})
