import { expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { askAlerts } from '../../../src/lib/openshift/firing-alerts.ts'
import { play, type Stage } from '../stage.ts'
import { denying } from './denying-cluster.ts'
import { eusRunOn, eusStatusOn, serveFiles, type Shape, small418 } from './window-stage.ts'

const open: Shape = { ...small418, openshift: { ...small418.openshift!, monitoring: 'open' } }
const grave = { name: 'etcdMembersDown', severity: 'critical', namespace: 'openshift-etcd' }

const planOn = (stage: Stage, cluster = stage.cluster) => {
  serveFiles(stage)
  const options = { accept: [], graphFile: 'graph.json', catalogFile: 'catalog.yaml' }
  return stage.perform((cx) => planEus(cx, options), {
    cluster,
    commandLine: 'kvup eus plan',
    output: 'wide',
  })
}

test('a platform as it comes: the plan, status and the report say why not, and what to type', () =>
  play(small418, async (stage) => {
    const plan = await planOn(stage)
    expect(plan.code).toBe(0)
    expect(plan.documents.at(-1)).toMatchObject({
      unknown: expect.arrayContaining([expect.stringMatching(/^which alerts are firing: .* answers 401/u)]),
    })
    expect((await eusStatusOn(stage)).text).toContain('which alerts are firing')
  }))

test('critical alerts are named by the plan as a warning, harmless ones are not', () =>
  play(open, async (stage) => {
    stage.simulated.faults.set({ firing: [grave] })
    const plan = await planOn(stage)
    expect(plan.documents.at(-1)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({
          id: 'alerts-firing',
          level: 'warning',
          objects: ['etcdMembersDown in namespace openshift-etcd'],
        }),
      ]),
    })
    expect(plan.text).not.toContain('which alerts are firing')
    expect((await eusStatusOn(stage)).text).toContain(
      'alerts: 2 firing: etcdMembersDown in namespace openshift-etcd (critical), AlertmanagerReceiversNotConfigured in namespace openshift-monitoring\n',
    )
    stage.simulated.faults.set({ firing: undefined })
    expect((await eusStatusOn(stage)).text).toContain(
      'alerts: 1 firing: AlertmanagerReceiversNotConfigured in namespace openshift-monitoring\n',
    )
    expect((await planOn(stage)).text).not.toContain('alerts-firing')
  }))

test('the report compares with the beginning of the window, not of the last run', () =>
  play(open, async (stage) => {
    stage.simulated.faults.set({ firing: [grave] })
    expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
    const late = { name: 'TargetDown', severity: 'warning' }
    stage.simulated.faults.set({ firing: [grave, late] })
    const ended = await eusRunOn(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.documents.at(-1)).toMatchObject({ alerts: { new: ['TargetDown'] } })
    expect(ended.text).toContain('new alerts: TargetDown')
  }))

test('more alerts than a window keeps: not compared, rather than by a part of them', () =>
  play(open, async (stage) => {
    const hundreds = Array.from({ length: 250 }, (_, i) => ({ ...grave, namespace: `team-${i + 100}` }))
    stage.simulated.faults.set({ firing: hundreds })
    expect(await eusRunOn(stage, { until: 'accepted-4.19' })).toMatchObject({ code: 0 })
    stage.simulated.faults.set({ firing: hundreds.slice(50) })
    const ended = await eusRunOn(stage)
    expect(ended.error).toBeUndefined()
    expect(ended.text).toContain('Alerts not compared')
    expect(ended.text).toContain(', but kvup saves at most 200')
  }))

test('the alert of outdated VMs, which fires after a day, is said to be expected', () =>
  play(open, async (stage) => {
    const ended = await eusRunOn(stage, { until: 'pause-worker' })
    expect(ended.error).toBeUndefined()
    expect((await eusStatusOn(stage)).text).not.toContain('OutdatedVirtualMachineInstanceWorkloads')
    const late = { name: 'OutdatedVirtualMachineInstanceWorkloads', severity: 'warning' }
    stage.simulated.faults.set({ firing: [late] })
    const said = 'expected during an EUS upgrade: OutdatedVirtualMachineInstanceWorkloads'
    expect((await eusStatusOn(stage)).text).toContain(said)
    expect((await planOn(stage)).text).toContain(
      'OutdatedVirtualMachineInstanceWorkloads fires: this is expected',
    )
  }))

test('who may not ask is told so, and plans all the same', () =>
  play(open, async (stage) => {
    const blind = denying(stage.cluster, (_, plural) => plural === 'services/proxy')
    const plan = await planOn(stage, blind)
    expect(plan.code).toBe(0)
    expect(plan.text).toContain('cannot get')
    expect(plan.text).toContain(askAlerts)
  }))
