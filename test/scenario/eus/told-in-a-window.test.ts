import { expect, test } from 'vitest'
import { history } from '../../../src/commands/history.ts'
import { status } from '../../../src/commands/status/status.ts'
import { Leases } from '../../../src/lib/kube/kinds/core-kinds.ts'
import { errorLines } from '../../../src/lib/output/error-text.ts'
import { paintFor, printedLine } from '../../../src/lib/output/terminal.ts'
import { leaseName } from '../../../src/lib/engine/lease.ts'
import { type Ended, minute, play, type Stage } from '../stage.ts'
import { borrowedFields, eusRunOn, eusStatusOn, playAt, small418 } from './window-stage.ts'

const statusOn = (stage: Stage): Promise<Ended> =>
  stage.perform((cx) => status(cx, {}), { commandLine: 'kvup status' })

const historyOn = (stage: Stage): Promise<Ended> =>
  stage.perform((cx) => history(cx).then(() => 0), { commandLine: 'kvup history' })

test('between hops: status, eus status, history, the question of run and restore name the commands of the window, who is at work, and what is borrowed', () =>
  playAt('operator-4.19')(async (stage, before418) => {
    const { text } = await statusOn(stage)
    expect(text).toContain('paused of MachineConfigPool worker, was false')
    expect(text).not.toMatch(/kvup (?:restore-settings|workloads resume-updates)\n/u)
    expect(text.match(/kvup eus abort/gu)).toHaveLength(1)
    expect(text.match(/kvup history/gu)).toHaveLength(1)
    const told = await historyOn(stage)
    expect(told.text).not.toMatch(/kvup (?:restore-settings|workloads resume-updates)\n/u)
    expect(told.text).toContain('kvup restore-settings workload-updates     # restores it')

    const free = await eusStatusOn(stage)
    expect(free.text).toMatch(
      /kvup eus run --approve {5}continues it\nOr: kvup eus abort --approve {5}ends it/u,
    )
    await hold(stage, 'jane@elsewhere/7192/e02e1cda')
    const busy = await eusStatusOn(stage)
    expect(busy.text).toContain('another kvup is running: jane@elsewhere')
    expect(busy.text).not.toMatch(/kvup eus (?:run|abort)/u)
    expect(busy.text).toMatch(/^EUS upgrade 4\.18 → 4\.20: updating .*\nNext: kvup eus status -w/u)
    await stage.until(minute)

    expect((await asked(stage)).questions).toEqual(['Continue the EUS upgrade 4.18 → 4.20 (now at 4.19.14)?'])

    // Without a name nothing is restored, unless that risk is taken by name; a pool never.
    const held = borrowedFields(stage)
    const refused = await stage.restore({}, { yes: true })
    expect(refused).toMatchObject({ code: 3 })
    expect(refused.text).toContain('window-open')
    expect(refused.text).toContain('kvup eus abort')
    expect(borrowedFields(stage)).toEqual(held)
    const taken = await stage.restore({ accept: ['window-open'] }, { yes: true })
    expect(taken).toMatchObject({ code: 0 })
    expect(borrowedFields(stage)).toEqual({ ...before418, paused: held.paused })
    expect((await stage.journal.overrides()).map(({ id }) => id)).toEqual(['pool-paused/worker'])
    expect(taken.text).toMatch(
      /\ntemporary changes: pool\/worker\n {2}(?:→|->) kvup eus abort {5}# restores them\n/u,
    )
    expect(taken.text.match(/temporary changes: pool\/worker/gu)).toHaveLength(1)
  }))

test("eus status on the way of a hop: from where to where; what kvup itself asked for is no trouble, and what was accepted is nobody's to give back", () =>
  playAt('pause-worker')(async (stage) => {
    await eusRunOn(stage, { until: 'request-4.19' })
    expect((await eusStatusOn(stage)).text).not.toContain('is requested by kvup')
    await eusRunOn(stage, { until: 'accepted-4.19' })
    const { text } = await eusStatusOn(stage)
    expect(text).toContain('(control plane updating from 4.18.21 to 4.19.14)')
    expect(text).not.toMatch(/borrowed:.*(?:desiredUpdate|channel)/u)
  }))

/** As `kvup eus run` does it, elsewhere. */
async function hold({ simulated, now }: Stage, holderIdentity: string): Promise<void> {
  const lease = simulated.store.list(Leases).items.find(({ metadata }) => metadata.name === leaseName)
  if (lease === undefined) throw new Error('no lease')
  const { name, namespace = '' } = lease.metadata
  const at = new Date(now).toISOString().replace('Z', '000Z')
  const spec = { holderIdentity, leaseDurationSeconds: 15, acquireTime: at, renewTime: at }
  await simulated.cluster().writer.mergePatch(Leases, { name, namespace }, { spec })
}

test('without --approve the line that would end at the same place is not offered', () =>
  playAt('control-plane-4.19')(async (stage) => {
    const line = 'kvup eus run --graph-file graph.json'
    const { text, code, error } = await eusRunOn(stage, { approve: false }, { commandLine: line })
    expect(code).toBe(3)
    const printed = errorLines(error, paintFor({ colour: false, unicode: true }))
      .map(printedLine)
      .join('\n')
    expect(printed).toMatch(
      /^Stopped before InstallPlan \S+: it waits for your approval\. It installs HyperConverged 4\.19\.\d+ with KubeVirt v1\.\d\.\d\.$/mu,
    )
    expect(printed).toContain(`Next: ${line} --approve\n`)
    expect(printed).not.toContain('error:')
    const told = await historyOn(stage)
    expect(told.text).toMatch(/EUS upgrade 4\.18 → 4\.20 +waits for approval /u)
    expect(text).not.toContain(`${line}     continues`)
  }))

/** What a person is asked who says no, and all that is said before. */
async function asked(stage: Stage) {
  const questions: string[] = []
  const { text } = await eusRunOn(stage, {}, { answer: async (question) => questions.push(question) > 1 })
  return { questions, text }
}

test('before the question of run: which cluster, how long, what warns, nothing twice, and that it ends before each InstallPlan', () =>
  play(small418, async (stage) => {
    const { questions, text } = await asked(stage)
    expect(questions).toEqual(['Start the EUS upgrade 4.18 → 4.20 (platform, virtualization, nodes)?'])
    expect(text.match(/volume changes wait/gu)).toHaveLength(1)
    expect(text.match(/no way back/giu)).toHaveLength(1)
    expect(text).toContain('CPU, memory and volume changes wait')
    expect(text).toContain('OutdatedVirtualMachineInstanceWorkloads fires after 24 h')
    const ended = await eusRunOn(stage, { approve: false, until: 'pause-workload-updates' })
    expect(ended.text).toMatch(/time +.* of work/u)
    expect(ended.text).toContain('ends before each InstallPlan, because the Subscription is Manual')
    expect(ended.text).toContain('There is no way back to 4.18. Back up etcd and VM data now.')
    expect((await eusStatusOn(stage)).text).toContain('CPU, memory and volume changes wait')
    const approved = await eusRunOn(stage, { until: 'channel-4.19' })
    expect(approved.text).not.toContain('ends before each InstallPlan')
  }))

test('a dry run says what is given back, and where, in no words of the journal', () =>
  play(small418, async (stage) => {
    const { text } = await eusRunOn(stage, { dryRun: 'client' })
    expect(text).not.toContain('override')
    expect(text).toMatch(
      /unpause pool worker +restores spec\.paused: false, which "pause pool worker" saves/u,
    )
    expect(text).toMatch(/resume automatic VM updates +restores .*workloadUpdateMethods: \["LiveMigrate"\]/u)
  }))
