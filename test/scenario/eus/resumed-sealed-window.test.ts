import { expect, test } from 'vitest'
import { planEus } from '../../../src/commands/eus/eus-status.ts'
import { MachineConfigPools } from '../../../src/lib/kube/kinds/openshift-kinds.ts'
import { isEvery } from '../killed.ts'
import { Killed, mortal } from '../mortal-cluster.ts'
import { minute, play, type Stage } from '../stage.ts'
import { type Trail, trailOf } from './trail.ts'
import { eusRunOn, serveFiles, small418 } from './window-stage.ts'

const planned = { plan: 'plan.yaml' } as const

/** `kvup eus plan --graph-file graph.json --catalog-file catalog.yaml --to-file plan.yaml`. */
async function seal(stage: Stage): Promise<void> {
  serveFiles(stage)
  const options = { accept: [], graphFile: 'graph.json', catalogFile: 'catalog.yaml', toFile: 'plan.yaml' }
  const ended = await stage.perform((cx) => planEus(cx, options), { commandLine: 'kvup eus plan' })
  expect(ended.error).toBeUndefined()
}

async function unbroken(): Promise<Trail> {
  let trail: Trail = { hops: [], places: [] }
  await play(small418, async (stage) => {
    await seal(stage)
    trail = trailOf(stage)
    expect(await eusRunOn(stage, planned)).toMatchObject({ code: 0 })
  })
  return trail
}

const whole = await unbroken()

async function cutOff(stage: Stage, place: string): Promise<void> {
  const trail = trailOf(stage)
  const cluster = mortal(stage.cluster, { afterCallWhen: () => trail.places.includes(place) })
  const killed = eusRunOn(stage, planned, { cluster, host: 'dead' }).catch((error: unknown) => error)
  await cluster.death
  expect(await killed).toBeInstanceOf(Killed)
}

/** `KVUP_EVERY_DEATH=1` tries all. */
const places = whole.places.slice(1).filter((_, at) => isEvery || at % 3 === 1)

test.each(places)('a sealed plan that was cut off at: %s: goes on, and makes the same hops', (place) =>
  play(small418, async (stage) => {
    await seal(stage)
    const file = stage.files.get('plan.yaml')
    const { hops } = trailOf(stage)
    await cutOff(stage, place)
    await stage.until(15 * minute)
    const ended = await eusRunOn(stage, planned, { host: 'other' })
    expect(ended.text).not.toContain('the cluster has changed')
    expect(ended.error).toBeUndefined()
    expect(hops).toEqual(whole.hops)
    expect(stage.files.get('plan.yaml')).toBe(file)
  }),
)

test('where it does not fit any more: the line makes it again with the flags it was made with, beside the one that was reviewed', () =>
  play(small418, async (stage) => {
    await seal(stage)
    await stage.cluster.writer.mergePatch(MachineConfigPools, { name: 'worker' }, { spec: { paused: true } })
    const { error } = await eusRunOn(stage, planned)
    expect(error?.remedy).toEqual([
      'kvup eus plan --to 4.20 --graph-file graph.json --catalog-file catalog.yaml --to-file plan.new.yaml      makes a new plan: review the difference before you use it',
    ])
  }))
