import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/lib/engine/step.ts'
import { progressOf } from '../../src/lib/output/progress/run-progress.ts'
import { timeLeft } from '../../src/lib/output/progress/time-left.ts'
import { readSchema, validate } from '../lib/docs/json-schema.ts'
import { byTag, minute, play, type Stage } from './stage.ts'
import { documentOf, migrationsIn, outdated } from './updates.ts'

const schemas = new Map(
  readdirSync('docs/schema')
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, readSchema('docs/schema', name)]),
)

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16)

/** A window of so many minutes every day, which opens so many minutes from now. */
function windowIn(stage: Stage, opens: number, long: number): { window: string[]; at: number } {
  const start = Math.ceil((stage.now + opens * minute) / minute) * minute
  return { window: [`daily ${clock(start)}-${clock(start + long * minute)} UTC`], at: start }
}

const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')

describe('windows', () => {
  test('a dry run shows them: when they open, whose turn comes when, and what they are too short for', () =>
    outdated(8, async (stage) => {
      const { window, at } = windowIn(stage, 90, 2)
      const ended = await stage.update({
        window,
        parallel: '1',
        dryRun: 'client',
        canary: '1',
        timeout: '7d',
      })
      const document = documentOf(ended)
      expect(validate({ ...document, status: 'complete' }, 'workloads-update.json', schemas)).toEqual([])
      expect(document).toMatchObject({
        window: { typed: window, opens: new Date(at).toISOString() },
        waves: [
          { id: 'canary', begins: new Date(at).toISOString(), windows: 1 },
          { id: 'wave', windows: 2 },
        ],
      })
      expect(ended.text).toContain(`VMs start only in "${window[0]}": opens at ${iso(at)}, in 1 h 30 m`)
      expect(ended.text).toContain(
        `canary: about 30 s, starts at ${iso(at)}, done by about ${iso(at + minute / 2)}`,
      )
      expect(ended.text).toMatch(
        /wave: about 3 m 30 s, starts at .*; its time window is too short for it, 1 m 30 s of 3 m 30 s: the rest waits for the next ones, 2 windows in all/u,
      )
      expect(migrationsIn(stage)).toEqual([])
    }))

  test('too short a one is said before the question, and nothing was written by then', () =>
    outdated(8, async (stage) => {
      const { window } = windowIn(stage, 5, 2)
      const mark = stage.mark
      const asked = await stage.update(
        { window, parallel: '1', timeout: '7d' },
        { answer: async () => false },
      )
      expect(asked).toMatchObject({ code: 3, error: { reason: 'answered-no' } })
      expect(asked.text).toContain('its time window is too short for it, 2 m of 4 m')
      const told = await stage.update({ window, parallel: '1', timeout: '1h', dryRun: 'client' })
      expect(told.text).toMatch(/wave does not finish before the timeout \(--timeout\), at 2026/u)
      expect(stage.writes(mark)).toEqual([])
    }))

  test('the time that is left knows the closed window: it counts, and nothing is overdue meanwhile', () =>
    outdated(4, async (stage) => {
      const { window, at } = windowIn(stage, 240, 30)
      const events: RunEvent[] = []
      const said: { at: number; left: string | undefined }[] = []
      const ended = await stage.update(
        { window, parallel: '1', timeout: '7d' },
        {
          onEvent(event) {
            events.push(event)
            // Looked at now and then: each look reads all events.
            if (event.kind === 'step-waiting' && stage.now - (said.at(-1)?.at ?? 0) > minute)
              said.push({ at: stage.now, left: timeLeft(progressOf(events), new Date(stage.now)) })
          },
        },
      )
      expect(ended).toMatchObject({ code: 0 })
      const closed = said.find((one) => one.at < at)
      expect(closed?.left).toMatch(/^(?:under [45] h|[34]–[45] h) left$/u)
      // Half an hour before it opens, as a person who looks then would see it.
      const waiting = events.filter((event) => Date.parse(event.at) < at)
      expect(timeLeft(progressOf(waiting), new Date(at - 30 * minute))).toMatch(/min left$/u)
      expect(timeLeft(progressOf(waiting), new Date(at - 30 * minute))).not.toMatch(/overdue|longer/u)
      for (const { left } of said) expect(left ?? '').not.toMatch(/overdue|longer/u)
    }))
})

const inTime = (stage: Stage, ms: number) => new Date(stage.now + ms).toISOString()

describe('--deadline', () => {
  test('too short for the next step is said before the question, and it stops where that was said', () =>
    play(byTag, async (stage) => {
      const deadline = inTime(stage, minute)
      const asked = await stage.upgrade('v1.8.4', { deadline }, { answer: async () => false })
      expect(asked).toMatchObject({ code: 3, error: { reason: 'answered-no' } })
      expect(asked.text).toMatch(
        /the time until 2026-01-01T00:01:00Z \(--deadline\) is too short for all of it: by the estimates it stops before set imageTag \(set-image-tag\), which takes about \d+ m/u,
      )
      expect(stage.writes()).toEqual([])
      const ended = await stage.upgrade('v1.8.4', { deadline })
      expect(ended).toMatchObject({
        code: 4,
        documents: [
          { outcome: 'stopped-before', stoppedBefore: { step: 'set-image-tag', because: 'deadline' } },
        ],
      })
    }))

  test('a dry run says it too; with time enough nothing is said', () =>
    play(byTag, async (stage) => {
      const dry = await stage.upgrade('v1.8.4', { deadline: inTime(stage, minute), dryRun: 'client' })
      expect(dry.text).toContain('(--deadline) is too short for all of it')
      const enough = await stage.upgrade('v1.8.4', { deadline: inTime(stage, 60 * minute), dryRun: 'client' })
      expect(enough.text).not.toContain('too short')
    }))
})
