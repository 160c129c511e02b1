// 5 s: each death is another window; `KVUP_EVERY_DEATH=1` tries all.
import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { isEvery, shuffled } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import { minute, play, type Stage } from '../stage.ts'
import { seal } from './meanwhile.ts'
import { type Trail, trailOf } from './trail.ts'
import { eusRunOn, eusStatusOn, small418 } from './window-stage.ts'
import type { EusRunOptions } from '../../../src/lib/eus/run/window-run.ts'

async function unbroken(): Promise<Trail> {
  let trail: Trail = { hops: [], places: [] }
  await play(small418, async (stage) => {
    trail = trailOf(stage)
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
  })
  return trail
}

const whole = await unbroken()

/** Dies as soon as it looks at the cluster in that state. */
async function cutOff(stage: Stage, place: string, typed: Partial<EusRunOptions> = {}): Promise<void> {
  const trail = trailOf(stage)
  const cluster = mortal(stage.cluster, { afterCallWhen: () => trail.places.includes(place) })
  const killed = eusRunOn(stage, typed, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  expect(await killed).toBeInstanceOf(Killed)
}

/** By default one, drawn by the seed; that any death is gone on from is played in killed-window.test.ts. */
const places = whole.places.slice(1)
const between = places.filter((place) => place.startsWith('platform 4.19.14 Completed'))
const drawn = isEvery ? places : shuffled(places, (one) => one).slice(0, 1)

test('the unbroken window goes over every release of the operator that its catalogs lead to', () =>
  expect(whole.hops).toEqual([
    'platform 4.18.21',
    'operator 4.18.13',
    'platform 4.19.14',
    'operator 4.19.5',
    'operator 4.19.8',
    'platform 4.20.5',
    'operator 4.20.1',
  ]))

describe.each([...(isEvery ? [0] : []), 15 * minute])('gone on with after %i ms', (pause) => {
  test.each(drawn)('cut off at: %s: a sealed plan makes the same hops', (place) =>
    play(small418, async (stage) => {
      await seal(stage)
      const file = stage.files.get('plan.yaml')
      const { hops } = trailOf(stage)
      await cutOff(stage, place, { plan: 'plan.yaml' })
      await stage.until(pause)
      const ended = await eusRunOn(stage, { plan: 'plan.yaml' }, { host: 'other' })
      expect(ended.text).not.toContain('the cluster has changed')
      expect(ended.error).toBeUndefined()
      expect(hops).toEqual(whole.hops)
      expect(stage.files.get('plan.yaml')).toBe(file)
    }),
  )
})

/** As it is typed by who has no catalog: the stage's own is left out. */
const withoutFiles = { accept: ['operator-path-unknown'], catalogFile: undefined } as object

test('without its files, left while a release of the operator waits for its approval: status and plan name it, and promise nothing', () =>
  play(small418, async (stage) => {
    await cutOff(
      stage,
      between.find((place) => place.includes('rolls, 4.19.5 installed')) ?? '',
      withoutFiles,
    )
    await stage.until(15 * minute)
    const { documents } = await eusStatusOn(stage)
    expect(documents).toMatchObject([
      { open: true, safeToLeave: 'always: nothing happens until you run it again' },
    ])
    const { parts } = documents[0] as unknown as { parts: { name: string; state: string; note?: string }[] }
    expect(parts.find(({ state }) => state === 'now')).toMatchObject({
      name: 'Update virtualization to 4.19',
      note: expect.stringContaining('operator.v4.19.8'),
    })
    const typed = { commandLine: 'kvup eus plan' }
    const plan = await stage.perform((cx) => planEus(cx, { accept: [] }), typed)
    expect(plan.documents).toMatchObject([
      {
        hops: [
          {
            minor: '4.19',
            operators: [
              { version: '4.19.5', done: true },
              { version: '4.19.8', done: false },
            ],
          },
          { minor: '4.20' },
        ],
      },
    ])
    const { steps } = plan.documents[0] as unknown as { steps: { id: string }[] }
    const ids = steps.map(({ id }) => id)
    expect(ids).toContain('approve-4.19.8')
    expect(ids.indexOf('approve-4.19.8')).toBeLessThan(ids.indexOf('request-4.20'))
  }))
