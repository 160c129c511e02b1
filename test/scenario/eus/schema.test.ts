import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readSchema, validate } from '../../lib/docs/json-schema.ts'
import { type Ended, play } from '../stage.ts'
import { eusAbortOn, restoreOn, eusRunOn, eusStatusOn, small418 } from './window-stage.ts'

const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)

/** `main` says how it ended; the rest is the command's. */
const problemsOf = ({ documents }: Ended, schema: string) =>
  validate({ ...documents.at(-1), status: 'complete' }, schema, schemas)

test('every document of a window is of its schema', () =>
  play(small418, async (stage) => {
    const before = await eusStatusOn(stage)
    const dryRunSteps = await eusRunOn(stage, { dryRun: 'client' })
    expect(stage.writes()).toEqual([])
    const stopped = await eusRunOn(stage, { until: 'pause-worker' })
    const open = await eusStatusOn(stage)
    const restored = await restoreOn(stage)
    const aborted = await eusAbortOn(stage)
    expect(stopped.documents.at(-1)).toMatchObject({ outcome: 'stopped-before' })
    for (const ended of [dryRunSteps, stopped, restored, aborted])
      expect({ error: ended.error, problems: problemsOf(ended, 'eus-report.json') }).toEqual({
        error: undefined,
        problems: [],
      })
    for (const ended of [before, open]) expect(problemsOf(ended, 'eus-status.json')).toEqual([])
  }))
