import { expect, test } from 'vitest'
import { parseReportSource } from '../../../../src/lib/output/report/report-source.ts'
import { timelineOf } from '../../../../src/lib/output/report/timeline.ts'
import { checkText, recorded, recordedFiles, recordedText, reported } from './recorded.ts'

const check = () => parseReportSource(checkText(), 'check.json')

const passed = () => ({
  kind: 'CheckReport',
  outcome: 'passed',
  to: 'v1.8.4',
  counts: { blockers: 0, notChecked: 0, warnings: 0 },
  items: [{ id: 'node-ready', is: 'passed', findings: [] as object[] }],
  status: 'complete',
})
const blocker = { id: 'node-ready', level: 'blocker', summary: 'worker-1 is not ready' }
const error = { code: 4, reason: 'stalled', message: 'stalled while updating virt-api' }
const ended = recorded('upgrade.ndjson').document
const plan = recorded('plan.json').document
const nothingToDo = { ...plan, pending: false, steps: [] }
const rehearsed = recorded('rehearsal.json').document

test('a check in which nothing was found is good', () => {
  expect(reported({ document: passed(), events: [] }).verdict).toEqual({
    is: 'good',
    text: 'READY for v1.8.4',
  })
  expect(reported({ document: nothingToDo, events: [] }).verdict.is).toBe('good')
})

test('a check that was not made is counted as that, whatever its finding weighs', () => {
  const notMade = { id: 'rbac-diff', is: 'not-checked', findings: [{ ...blocker, level: 'warning' }] }
  const document = { ...passed(), counts: { blockers: 0, notChecked: 1, warnings: 0 }, items: [notMade] }
  expect(reported({ document, events: [] }).verdict).toMatchObject({
    is: expect.not.stringMatching('bad') as string,
    text: expect.stringMatching(/^READY for v1\.8\.4/u) as string,
  })
})

test.each([
  [{ ...ended, outcome: 'stalled' }, 'bad', 'Stalled: KubeVirt v1.7.4 → v1.8.4'],
  [{ ...ended, outcome: 'interrupted' }, 'bad', 'Interrupted: KubeVirt'],
  [{ ...ended, outcome: 'failed' }, 'bad', 'Failed: KubeVirt'],
  [{ ...ended, status: 'failed' }, 'bad', 'Failed: KubeVirt'],
  [{ ...ended, error }, 'bad', 'Failed: stalled while updating virt-api'],
  [{ ...ended, outcome: 'well' }, 'warning', 'its outcome "well" is not known'],
  [{ ...ended, outcome: undefined }, 'warning', 'its outcome is not known'],
  [{ ...passed(), items: undefined }, 'warning', 'it has no verdict'],
  [{ ...passed(), status: 'failed' }, 'bad', 'Failed: READY'],
  [{ ...passed(), items: [{ findings: [blocker] }] }, 'bad', 'it passed, with 1 finding that blocks'],
  [{ ...passed(), counts: { blockers: 2, notChecked: 0, warnings: 0 } }, 'bad', 'with 2 findings that block'],
  [
    { ...passed(), items: [{ findings: [{ ...blocker, level: 'not-checked' }] }] },
    'bad',
    'with 1 finding that blocks',
  ],
  [{ ...plan, status: 'failed' }, 'bad', 'Failed: plan of KubeVirt'],
  [{ ...nothingToDo, status: 'failed' }, 'bad', 'Failed: plan of KubeVirt'],
  [{ ...nothingToDo, findings: [blocker] }, 'bad', 'it passed, with 1 finding that blocks'],
  [{ ...rehearsed, outcome: undefined }, 'warning', 'its outcome is not known'],
  [{ ...rehearsed, status: 'failed' }, 'bad', 'Failed: Rehearsal: KubeVirt'],
  [{ ...rehearsed, code: 4 }, 'bad', 'Failed: Rehearsal: KubeVirt'],
  [{ ...rehearsed, why: error }, 'bad', 'it goes through, and says why it does not'],
  [{ kind: 'Error' }, 'bad', 'Failed: '],
] as const)('what speaks against a good verdict takes it away: %#', (document, is, text) => {
  const { verdict } = reported({ document, events: [] })
  expect(verdict).toEqual({ is, text: expect.stringContaining(text) })
})

test('a verdict has no value of another type in it', () => {
  const others = [null, 7.5, Infinity, Number.NaN, {}, [], [{}], true, { lowSeconds: 'x' }]
  for (const file of [...recordedFiles, 'check'] as const) {
    const { document } = file === 'check' ? check() : recorded(file)
    const [run] = (document['runs'] ?? []) as object[]
    const places = [
      ...Object.keys(document).map((key) => (other: unknown) => ({ ...document, [key]: other })),
      ...Object.keys(run ?? {}).map((key) => (other: unknown) => ({
        ...document,
        runs: [{ ...run, [key]: other }],
      })),
      (other: unknown) => ({ ...document, operator: { from: other, to: other } }),
      (other: unknown) => ({ ...document, stoppedBefore: { step: other, because: other } }),
    ]
    for (const place of places)
      for (const other of others) {
        const changed = { ...place(other), kind: document.kind }
        expect(reported({ document: changed, events: [] }).verdict.text).not.toMatch(
          /null|undefined|object|NaN|Infinity/u,
        )
      }
  }
})

test('events whose end was cut off say where', () => {
  const whole = recordedText('upgrade.ndjson')
  const source = parseReportSource(whole.slice(0, whole.length / 2), 'run.ndjson')
  const { verdict, remarks } = reported(source)
  expect(verdict).toEqual({ is: 'warning', text: 'Cut off: what the file has of this run ends at virt-api' })
  expect(remarks[0]).toContain('The file ends before the run does')
  expect(timelineOf(source)?.lanes.find(({ name }) => name === 'virt-api')?.bars[0]?.tone).toBe('bad')
})

/** A run of 66 lines with its report, and the same once more that was killed. */
const runText = recordedText('upgrade.ndjson')
const linesOf = (text: string): string[] => text.trimEnd().split('\n')
const begun = `${linesOf(runText).slice(0, 30).join('\n')}\n`
const severalRuns = 'The file has 2 runs: this report is of the last one.'

test.each([
  ['a run', runText, 'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s', []],
  [
    'a run, and one that was killed',
    runText + begun,
    'Cut off: what the file has of this run ends at virt-controller',
    [expect.stringContaining('The file ends before the run does'), severalRuns],
  ],
  ['one that was killed, and a run', begun + runText, 'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s', [severalRuns]],
  [
    'a run, and the document of a check',
    `${runText}${JSON.stringify(JSON.parse(checkText()))}\n`,
    'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s',
    ['The file has other documents, which are not in this report: Check.'],
  ],
  [
    'a run, and of the next one half a line',
    runText + begun.slice(0, 100),
    'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s',
    ['1 line of the file is not JSON, and left out.'],
  ],
  [
    'a run with two garbled lines',
    linesOf(runText)
      .map((line, index) => (index === 11 || index === 40 ? line.slice(3) : line))
      .join('\n'),
    'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s',
    ['2 lines of the file are not JSON, and left out.'],
  ],
  [
    'a run whose beginning was cut within a line',
    runText.slice(100),
    'KubeVirt v1.7.4 → v1.8.4 in 2 m 37 s',
    ['The beginning of this run is not in the file.'],
  ],
])('of a file with %s', (_, text, verdict, remarks) => {
  const report = reported(parseReportSource(text, 'log.ndjson'))
  expect(report.verdict.text).toBe(verdict)
  expect(report.remarks).toEqual(remarks)
})

test.each([...recordedFiles])('nothing is missing in %s', (file) => {
  expect(recorded(file).remarks).toBeUndefined()
})

test.each([
  ['', 'it is empty'],
  ['{"kind": "constructor"}', 'it is of kind "constructor"'],
  ['{"kind": "toString"}', 'it is of kind "toString"'],
  ['{"kind": "__proto__"}', 'it is of kind "__proto__"'],
  ['{"kind": "Pod", "metadata": {}}', 'it is of kind "Pod"'],
  ['just words', 'it has no kind'],
  ['[1, 2]', 'it has no kind'],
  ['a: b: c', 'it is neither JSON nor YAML'],
])('%j is no document: %s', (text, why) => {
  expect(() => parseReportSource(text, 'x.json')).toThrow(why)
})

test.each(
  [
    [`${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}`, 'it is nested deeper than 100 levels'],
    [
      `{"kind": "CheckReport", "items": ${'['.repeat(6000)}${']'.repeat(6000)}}`,
      'it is nested deeper than 100 levels',
    ],
    [`a: ${'['.repeat(6000)}`, 'no report can be made'],
  ].map(([text = '', why = '']) => [text.slice(0, 30), text, why]),
)('what begins with %s and is nested 6,000 deep is refused', (_, text, why) => {
  expect(() => parseReportSource(text, 'x.json')).toThrow(why)
})
