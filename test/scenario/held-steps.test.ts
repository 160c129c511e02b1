// Whole runs of each procedure, stopped at each kind of step: more than 3 s of processor time.
import { expect, test } from 'vitest'
import { planEus } from '../../src/commands/eus/eus-status.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import { all, inFolder, onePointFive, store } from './path.ts'
import { byManifest, byTag, type Ended, minute, play, type Stage } from './stage.ts'
import { eusRunOn, serveFiles, small418 } from './eus/window-stage.ts'

/** What a run or a plan is asked with, here. */
interface Limits {
  pauseBefore?: string[]
  until?: string
  dryRun?: 'client'
}

type Run = (stage: Stage, limits: Limits) => Promise<Ended>
type Listed = readonly { id: string; canBeHeld?: true }[]

interface Procedure {
  shape: Parameters<typeof play>[0]
  run: Run
  /** By a dry run of the same line where nothing else is said. */
  listed?: (stage: Stage) => Promise<Listed>
}

const stableFor = '5s'
const olm = { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() }

const procedures: Readonly<Record<string, Procedure>> = {
  'image tag': {
    shape: byTag,
    run: async (stage, limits) => stage.upgrade('v1.8.4', { stableFor, waitWorkloads: true, ...limits }),
  },
  manifest: {
    shape: byManifest,
    run: async (stage, limits) => stage.upgrade('v1.9.0', { stableFor, ...limits }),
  },
  OLM: { shape: olm, run: async (stage, limits) => stage.upgrade('1.18.1', { stableFor, ...limits }) },
  path: {
    shape: onePointFive,
    async run(stage, limits) {
      store(stage, ...all)
      return stage.upgrade('v1.8.4', { manifest: undefined as never, ...inFolder, ...limits })
    },
  },
  EUS: {
    shape: small418,
    run: async (stage, limits) => eusRunOn(stage, limits),
    async listed(stage) {
      serveFiles(stage)
      const { documents } = await stage.perform((cx) => planEus(cx, { accept: [], graphFile: 'graph.json' }))
      return (documents.at(-1) as unknown as { steps: Listed }).steps
    },
  },
}

async function listedBy({ run, listed }: Procedure, stage: Stage): Promise<Listed> {
  if (listed) return listed(stage)
  const { documents } = await run(stage, { dryRun: 'client' })
  return (documents.at(-1) as unknown as { steps: Listed }).steps
}

/** The first of those that differ by their release alone: all of them is one run each. */
function ofKinds(steps: Listed): Listed {
  const kinds = new Map(steps.toReversed().map((step) => [step.id.replace(/-v?\d[\d.]*$/u, ''), step]))
  return [...kinds.values()].toReversed()
}

interface Stopped {
  stoppedBefore?: { step: string; goesOn?: readonly string[] }
}

const stopOf = ({ documents }: Ended) => (documents.at(-1) as Stopped | undefined)?.stoppedBefore

test.each(Object.entries(procedures))(
  '%s: what can be held is held however long it stands, any other step is refused with the change before it, and --until says where the cluster goes on by itself',
  async (_, procedure) => {
    await play(procedure.shape, async (stage) => {
      const { run } = procedure
      const steps = await listedBy(procedure, stage)
      const changes = ofKinds(steps.filter((step) => step.canBeHeld)).map(({ id }) => id)
      expect(changes.length).toBeGreaterThan(1)
      const mark = stage.mark
      const at = steps.findIndex(({ id }) => /^(?:set-image-tag|apply-operator|approve|request)/u.test(id))
      const [goesOn, next] = [steps[at]?.id ?? '', steps[at + 1]?.id]
      const told = await run(stage, { until: goesOn, dryRun: 'client' })
      expect(told.text).toContain(`behind ${goesOn} (--until) the cluster goes on by itself: ${next}`)
      for (const { id } of ofKinds(steps.filter((step) => !step.canBeHeld))) {
        const behind = steps.findIndex((step) => step.id === id)
        const before = steps.slice(0, behind).findLast((step) => step.canBeHeld)?.id
        const refused = await run(stage, { pauseBefore: [id] })
        expect(refused).toMatchObject({ code: 2, error: { reason: 'step-not-held' } })
        const instead =
          before === undefined ? 'it changes nothing, and no step before it does' : `--pause-before ${before}`
        expect(refused.error?.message).toBe(`${id} cannot be held: ${instead}`)
      }
      expect(stage.writes(mark)).toEqual([])
      for (const id of changes) {
        const first = stopOf(await run(stage, { pauseBefore: [id] }))?.step
        await stage.until(15 * minute)
        const again = await run(stage, { pauseBefore: [id] })
        expect([id, first]).toEqual([id, id])
        // At the last release of a path the step has no release in its name any more.
        expect([id, id.replace(/-v[\d.]+$/u, '')]).toContain(stopOf(again)?.step)
        if (id !== goesOn) continue
        const stopped = await run(stage, { until: id })
        expect(stopOf(stopped)?.goesOn?.[0]).toBe(next)
        expect(stopped.text).toContain(`the cluster goes on by itself: ${next}`)
      }
    })
  },
)
