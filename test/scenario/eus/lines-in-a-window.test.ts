// 4 s: each line is printed in another window.
import { expect, test } from 'vitest'
import { ocpOlm } from '../../../src/simulator/olm/olm-shape.ts'
import type { SimulationFaults } from '../../../src/simulator/simulated-cluster.ts'
import { interrupted } from '../../../src/lib/kube/errors.ts'
import { runText } from '../../lib/run-text.ts'
import { nmo } from '../other-operator.ts'
import { shellWords } from '../shell-words.ts'
import { type Ended, minute, play, type Stage } from '../stage.ts'
import { after, cdiDegraded, operatorVersion, patchWorkers, setMethods } from './meanwhile.ts'
import { eusRunOn, playAt, type Shape, small418 } from './window-stage.ts'

const typed = 'kvup eus run --approve --stable-for 5s'

interface Row {
  shape?: Shape
  /** The step of the window of `small418` behind which it is played from. */
  from?: string
  /** The step behind which the first run is interrupted, and it happens. */
  behind: string
  happens?: (stage: Stage) => unknown
  reason: string
  /** Begins the line that goes on. */
  goesOn: string
}

const set = (stage: Stage, faults: SimulationFaults) => stage.simulated.faults.set(faults)

const rows: Record<string, Row> = {
  'an InstallPlan that would install more': {
    shape: { ...small418, olm: ocpOlm({ others: [nmo] }) },
    behind: 'control-plane-4.19',
    reason: 'plan-installs-more',
    goesOn: `${typed} --approve-also node-maintenance-operator.v5.4.0`,
  },
  'methods that somebody sets before they are given back': {
    from: 'operator-4.20',
    behind: 'forecast',
    happens: (stage) => setMethods(stage, ['Evict']),
    reason: 'changed-meanwhile',
    goesOn: 'kvup restore-settings workload-updates --keep-current',
  },
  'a pool that somebody unpauses': {
    from: 'pause-worker',
    behind: 'channel-4.19',
    happens: (stage) => patchWorkers(stage, { paused: false }),
    reason: 'override-changed',
    goesOn: `${typed} --accept override-changed`,
  },
  'a pool that appears': {
    from: 'request-4.19',
    behind: 'accepted-4.19',
    happens: (stage) => set(stage, { addedPool: { name: 'infra', nodes: 1 } }),
    reason: 'pool-appeared',
    goesOn: `${typed} --accept pool-appeared`,
  },
}

const stuck = { name: 'db', notMigratable: 'DisksNotLiveMigratable' }

const linesOf = ({ error }: Ended): readonly string[] =>
  (error?.remedy ?? []).map((line) => line.split(/ {3,}/u)[0] ?? '')

/** Whole commands: `FILE` is for a person to fill in. */
const ofKvup = (lines: readonly string[]) => lines.filter((line) => /^kvup [^A-Z]*$/u.test(line))

/** Typed as it is printed; the question is answered no, which comes behind all that could refuse it. */
async function typedAs(line: string, { cluster, clock }: Stage): Promise<string> {
  const [, ...words] = shellWords(line)
  const { code, out, err } = await runText(words, { cluster, clock, answer: false })
  expect([line, code]).not.toEqual([line, 2])
  return out + err
}

async function expectTaken(ended: Ended, goesOn: string, stage: Stage): Promise<void> {
  const lines = linesOf(ended)
  expect(lines).toContain(goesOn)
  for (const line of ofKvup(lines)) expect(await typedAs(line, stage)).not.toContain('window-open')
}

test.each(Object.entries(rows))(
  'inside a window no line is printed that is refused there: %s',
  (_, { shape = small418, from, behind, happens, reason, goesOn }) => {
    const act = async (stage: Stage) => {
      const stop = new AbortController()
      const onEvent = after(behind, () => stop.abort(interrupted('SIGINT')))
      expect(await eusRunOn(stage, {}, { onEvent, signal: stop.signal })).toMatchObject({ code: 130 })
      await happens?.(stage)
      await stage.until(2 * minute)
      const ended = await eusRunOn(stage, {}, { commandLine: typed })
      expect(ended).toMatchObject({ error: { reason } })
      await expectTaken(ended, goesOn, stage)
    }
    return from === undefined ? play(shape, act) : playAt(from)(act)
  },
)

test('nor where HyperConverged is Degraded before a release that would repair it; with that line it is repaired', () =>
  play({ ...small418, faults: { planStatusAfter: 3 * minute } }, async (stage) => {
    const options = {
      graphFile: undefined,
      catalogFile: undefined,
      accept: ['path-unknown', 'operator-path-unknown'],
    } as object
    const onEvent = after('operands-rolled-4.19.5', () => set(stage, cdiDegraded))
    const ended = await eusRunOn(stage, options, { commandLine: typed, onEvent })
    expect(ended.code).toBe(4)
    expect(ended.error?.message).toContain('timed out after 1 h at "run the checks before 4.19.8"')
    expect(ended.text).toContain(`${typed}     continues, and waits again`)
    await expectTaken(ended, `${typed} --accept hyperconverged-degraded`, stage)
    const accept = ['hyperconverged-degraded']
    const approved = after('approve-4.19.8', () => set(stage, { components: undefined }))
    const again = await eusRunOn(stage, { accept, until: 'operator-4.19' }, { onEvent: approved })
    expect(again).toMatchObject({ code: 0 })
    expect(operatorVersion(stage)).toBe('4.19.8')
  }))

const beside: readonly string[] = [
  'workloads outdated',
  'workloads outdated -o json',
  'workloads strategy show',
  'workloads pause-updates --yes',
  'workloads strategy set --methods LiveMigrate --yes',
  'workloads unblock --all --yes --accept data-loss',
  'workloads update --watch-only --yes',
  'status',
  'history',
]

test('nor by any command beside the window, which is open and has lent a VM what lets it go', () =>
  play({ ...small418, vms: [{ name: 'web' }, stuck] }, async (stage) => {
    const accept = ['vms-that-stay', 'no-room', 'vms-block-drains']
    const ended = await eusRunOn(stage, { accept, until: 'operator-4.19' }, { commandLine: typed })
    expect(ended).toMatchObject({ code: 0 })
    const { cluster, clock } = stage
    for (const line of beside) {
      const { out, err } = await runText(line.split(' '), { cluster, clock })
      expect([line, out + err]).toEqual([line, expect.stringContaining('kvup eus run')])
      expect(out + err).not.toMatch(/kvup workloads (?:restore|resume-updates)/u)
    }
  }))
