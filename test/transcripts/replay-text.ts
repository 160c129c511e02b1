import { sanitiseLine } from '../../src/lib/output/terminal.ts'
import { type Done, judge, type Judgement, type Said } from './judge.ts'
import { parseRecording } from './read.ts'
import { timed } from './to-snapshots.ts'

/** A judged recording in words, and the exit code: 0, 1 where done was said early or late, 2 where it cannot be judged. */
export interface Replayed {
  text: string
  code: 0 | 1 | 2
}

/** Judges the recording that `read` gives; what is wrong with it is the text. */
export function replayText(name: string, read: () => Uint8Array): Replayed {
  try {
    const judged = judge(timed(parseRecording(read())), { leases: 'from events' })
    if (judged.said.length === 0) return unusable(name, 'there is no KubeVirt in it')
    return {
      text: report(judged).map(sanitiseLine).join('\n'),
      code: judged.early.length + judged.late.length > 0 ? 1 : 0,
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return unusable(name, error.message)
  }
}

const unusable = (name: string, why: string): Replayed => ({
  text: sanitiseLine(`error: ${name} cannot be judged: ${why}`),
  code: 2,
})

function report({ said, dones, early, late }: Judgement): readonly string[] {
  const rows = [...verdictRows(said), ...ownRows(said), ...noteRows(said)].toSorted((a, b) => a.t - b.t)
  return [
    ...rows.map(({ t, text }) => `${stamp(t)}  ${text}`),
    '',
    ...dones.map(doneText),
    ...early
      .slice(0, 1)
      .map(
        ({ line, own }) =>
          `EARLY: settled at ${seconds(line.t)} s, while ${own ? 'a DaemonSet was being rolled' : 'KubeVirt was not done'} (${early.length} lines in all)`,
      ),
    ...late.map(({ at }) => `LATE: more than 5 s behind KubeVirt's own done at ${seconds(at)} s`),
    ...(dones.length === 0 ? ['KubeVirt was never done in this recording'] : []),
    early.length + late.length === 0
      ? 'never done before KubeVirt, and never more than 5 s behind it'
      : 'not as it has to be',
  ]
}

interface Row {
  t: number
  text: string
}

/** A row for each change of the verdict, of what is waited for and of the doubts. */
function verdictRows(said: readonly Said[]): readonly Row[] {
  const changes = said.map((one) => ({ t: one.line.t, text: `kvup: ${wordsOf(one)}` }))
  return changes.filter(({ text }, index) => text !== changes[index - 1]?.text)
}

function wordsOf({ verdict, waitingFor, doubts }: Said): string {
  const [first] = waitingFor?.split(': ') ?? []
  return [
    verdict,
    ...(first === undefined ? [] : [`waiting for ${first}`]),
    ...(doubts.length > 0 ? [`doubts: ${doubts.join(', ')}`] : []),
  ].join(', ')
}

function ownRows(said: readonly Said[]): readonly Row[] {
  return said.flatMap(({ own, line }, index) =>
    own === (said[index - 1]?.own ?? false)
      ? []
      : [{ t: line.t, text: own ? 'KubeVirt itself: done' : 'KubeVirt itself: not done any more' }],
  )
}

const noteRows = (said: readonly Said[]): readonly Row[] =>
  said.flatMap(({ line: { t, note } }) => (note === undefined ? [] : [{ t, text: `note: ${note}` }]))

function doneText({ at, settledAt, clearAt, doubts, until }: Done): string {
  const behind = settledAt === undefined ? 'never settled' : `settled ${seconds(settledAt - at)} s behind it`
  const named = doubts.join(', ')
  const cleared =
    clearAt === undefined ? `until its end at ${seconds(until)} s` : `for ${seconds(clearAt - at)} s`
  return `done at ${seconds(at)} s: ${behind}${named === '' ? '' : `; doubts ${cleared}: ${named}`}`
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1)
const stamp = (ms: number): string => seconds(ms).padStart(8)
