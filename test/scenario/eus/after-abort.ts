import { expect } from 'vitest'
import { keptBaseline } from '../../../src/lib/eus/baseline.ts'
import type { EusReportDocument } from '../../../src/lib/eus/run/window-report.ts'
import type { Ended, Stage } from '../stage.ts'
import { abort, lentFields, playLent } from './lending-window.ts'
import { platformOf } from './window-stage.ts'

export type Fields = ReturnType<typeof lentFields>

/** What an abort has to lead to, wherever the window stood. `began`: the fields at the beginning of the window, when the VM was lent its strategy already. */
export interface Expected {
  before: Fields
  began: Fields
  spec: ReturnType<typeof platformOf>['spec']
}

/** To be asked for in front of a play: while another one goes on, its own time would. */
export async function expectedOfAbort(): Promise<Expected> {
  let expected: Expected | undefined
  await playLent(async (stage, before) => {
    expected = { before, began: lentFields(stage), spec: platformOf(stage).spec }
  })
  if (expected === undefined) throw new Error('not played')
  return expected
}

const from = '4.18.21'

/**
 * Every borrowed field is as it was, no loan is open, nothing is kept; channel and desiredUpdate went back exactly where no hop was accepted, and what cannot be undone
 * was said. Aborting again changes nothing.
 */
export async function expectAborted(stage: Stage, expected: Expected, ended: Ended): Promise<void> {
  expect(ended.error).toBeUndefined()
  expect(ended.code).toBe(0)
  const isNothing = ended.documents.at(-1)?.['outcome'] === 'nothing-to-do'
  const fields = lentFields(stage)
  const vmIsBack = JSON.stringify(fields.vms) === JSON.stringify(expected.before.vms)
  expect(fields).toEqual(isNothing && !vmIsBack ? expected.began : expected.before)
  expect(await stage.journal.overrides()).toEqual([])
  expect(await keptBaseline(stage.journal, 'eus to 4.20')).toBeUndefined()
  expectRequests(stage, expected)
  if (!isNothing) expectSaid(stage, ended)
  const mark = stage.mark
  expect(await abort(stage)).toMatchObject({ code: 0 })
  expect(stage.writes(mark)).toEqual([])
}

const releaseOf = (stage: Stage): string => platformOf(stage).status?.desired?.version ?? ''

function expectRequests(stage: Stage, { spec: before }: Expected): void {
  const { spec, status } = platformOf(stage)
  const release = releaseOf(stage)
  if (release === from) expect(spec).toEqual(before)
  else {
    expect(spec?.channel).toBe('eus-4.20')
    expect(spec?.desiredUpdate?.version).toBe(release)
    expect(status?.history?.[0]).toMatchObject({ state: 'Completed', version: release })
  }
}

/** What stays, in the document of the end. */
function expectSaid(stage: Stage, ended: Ended): void {
  const release = releaseOf(stage)
  const [report] = ended.documents as unknown as EusReportDocument[]
  const notes = report?.notes.join('\n')
  if (release === from) {
    expect(ended.text).toContain('The platform has accepted no step')
    expect(notes).not.toContain('Abort cannot undo')
    return
  }
  for (const line of [
    `Abort cannot undo: the platform remains at ${release}; there is no way back to ${from}`,
    `Abort cannot undo: the operator follows to the minor of ${release}`,
    'Abort cannot undo: the channel remains eus-4.20',
    'Abort cannot undo: what HyperConverged changes in its own spec',
  ])
    expect(notes).toContain(line)
}
