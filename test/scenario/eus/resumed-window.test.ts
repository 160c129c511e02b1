import { describe, expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { isEvery } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import { minute, play, type Stage } from '../stage.ts'
import { type Trail, trailOf } from './trail.ts'
import { eusRunOn, eusStatusOn, small418 } from './window-stage.ts'

async function unbroken(): Promise<Trail> {
  let trail: Trail = { hops: [], places: [] }
  await play(small418, async (stage) => {
    trail = trailOf(stage)
    expect(await eusRunOn(stage)).toMatchObject({ code: 0 })
  })
  return trail
}

const whole = await unbroken()

/** The stage's own is left out. */
const noCatalog = (accept: readonly string[]) => ({ accept, catalogFile: undefined }) as object

/** Dies as soon as it looks at the cluster in that state. */
async function cutOff(
  stage: Stage,
  place: string,
  options: { accept?: readonly string[] } = {},
): Promise<void> {
  const trail = trailOf(stage)
  const cluster = mortal(stage.cluster, { afterCallWhen: () => trail.places.includes(place) })
  const typed = options.accept === undefined ? {} : noCatalog(options.accept)
  const killed = eusRunOn(stage, typed, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  expect(await killed).toBeInstanceOf(Killed)
}

/** All would take a minute: those between two hops of the platform, where it is the operator's turn. `KVUP_EVERY_DEATH=1` tries all. */
const places = whole.places
  .slice(1)
  .filter((place) => isEvery || place.startsWith('platform 4.19.14 Completed'))

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

describe.each([
  ...(isEvery ? [['at once', 0] as const] : []),
  ['when what was under way has come to its end', 15 * minute] as const,
])('gone on with %s', (_when, pause) => {
  test.each(places)('cut off at: %s: the same hops are made', (place) =>
    play(small418, async (stage) => {
      const { hops } = trailOf(stage)
      await cutOff(stage, place)
      await stage.until(pause)
      const ended = await eusRunOn(stage, {}, { host: 'other' })
      expect(ended.error).toBeUndefined()
      expect(hops).toEqual(whole.hops)
    }),
  )
})

/** As it is typed by who has neither graph nor catalog. */
const withoutFiles = { accept: ['operator-path-unknown'] } as const

test.each([
  ['with its files', {}],
  ['without them', withoutFiles],
])(
  '%s, left while a release of the operator waits for its approval: status and plan name it, and promise nothing',
  (_how, options) =>
    play(small418, async (stage) => {
      await cutOff(stage, places.find((place) => place.includes('rolls, 4.19.5 installed')) ?? '', options)
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
    }),
)
