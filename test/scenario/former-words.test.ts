import { expect, test } from 'vitest'
import { history } from '../../src/commands/history.ts'
import { status } from '../../src/commands/status/status.ts'
import { ConfigMaps } from '../../src/lib/kube/kinds/core-kinds.ts'
import { type VirtualMachine, VirtualMachines } from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { editMethods } from './settings-owners.ts'
import { byTag, play, type Stage } from './stage.ts'

/** What a kvup of before 22 November left: it is named, with the line that sets it back by hand, and nothing of it is written unasked. */

const db = { name: 'db', namespace: 'demo' }
const noted = { by: 'jane@here', at: '2026-01-10T12:00:00Z' }
const strategyOf = (stage: Stage) => {
  const vm: VirtualMachine | undefined = stage.simulated.store.list(VirtualMachines).items[0]
  return [vm?.spec?.template?.spec?.evictionStrategy, vm?.metadata.annotations?.['kvup.io/loan']]
}
const tellsOf = async (stage: Stage) => [
  await stage.perform((cx) => history(cx).then(() => 0)),
  await stage.perform((cx) => status(cx, {})),
]

test.each([
  [{ present: true, value: 'LiveMigrate' }, 'LiveMigrate'],
  [{ present: false }, undefined],
])('the note on a VM whose strategy was %j', (was, before) =>
  play({ ...byTag, vms: [{ name: 'db' }] }, async (stage) => {
    const fields = [{ path: '/spec/template/spec/evictionStrategy', was, lent: 'None' }]
    const body = {
      metadata: {
        annotations: { 'kvup.io/loan': JSON.stringify({ ...noted, fields }) },
        labels: { 'kvup.io/loan': 'unblock' },
      },
      spec: { template: { spec: { evictionStrategy: 'None' } } },
    }
    stage.simulated.store.patch(VirtualMachines, db, { type: 'merge', body })
    const mark = stage.mark
    const refused = await stage.restore()
    expect(refused).toMatchObject({ code: 3, error: { reason: 'override-unreadable' } })
    const [line = ''] = refused.error?.remedy ?? []
    expect(line).toMatch(/^kubectl -n demo patch vm db --type=merge -p /u)
    const [told, state] = await tellsOf(stage)
    expect(told?.text).toContain(line.replace(/ {3,}.*/u, ''))
    expect(state?.text).toContain('kvup restore-settings')
    expect(stage.writes(mark).filter(({ resource }) => resource === 'virtualmachines')).toEqual([])
    const patch = JSON.parse(/-p '(.*)'/u.exec(line)?.[1] ?? '') as object
    stage.simulated.store.patch(VirtualMachines, db, { type: 'merge', body: patch })
    expect(strategyOf(stage)).toEqual([before, undefined])
    expect(await stage.restore()).toMatchObject({ code: 0 })
  }),
)

test('a claim of the journal, which once was all that was written down', () =>
  play(byTag, async (stage) => {
    const { uid = '' } = stage.kubevirt.metadata
    editMethods(stage, [])
    const claim = {
      ...noted,
      id: 'workload-updates',
      procedure: 'hold workload updates',
      object: { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', ...stage.kubevirt.metadata, uid },
      path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
      was: { present: true, value: ['LiveMigrate'] },
    }
    await stage.cluster.writer.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'kvup-journal', namespace: 'kubevirt' },
      data: { loans: `${JSON.stringify(claim)}\n` },
    })
    const [told] = await tellsOf(stage)
    expect(told?.text).toContain('workloadUpdateMethods')
    const refused = await stage.restore()
    expect(refused).toMatchObject({ code: 3, error: { reason: 'saved-value-missing' } })
    expect(refused.error?.remedy.join('\n')).toContain('kvup workloads strategy set --methods LiveMigrate')
    expect(stage.methods).toEqual([])
  }))
