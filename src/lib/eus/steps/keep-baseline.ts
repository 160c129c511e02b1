import type { JournalReader, Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { type Baseline, keepBaseline, keptBaseline } from './kept.ts'
import { keepAlerts } from './kept-alerts.ts'
import { keepHyperConverged } from './kept-hyperconverged.ts'
import { keepNodes, keptNodes } from './kept-nodes.ts'
import { keepVolumes } from './kept-volumes.ts'
import { readPlatform } from './read-platform.ts'

/**
 * Writes down, before anything is changed, what nobody could tell later: the release, the pools, volumes, the spec of the HyperConverged, what alerts fire, the labels
 * and taints of the nodes, which come last: with them it is whole. What is left of a window that is over is forgotten before.
 */
export function keepWhereItBegan({ name, ...baseline }: { name: string } & Omit<Baseline, 'from'>): Step {
  return {
    id: 'keep-baseline',
    title: 'keep what it is compared with at the end',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      const [began, nodes] = [await keptBaseline(journal, name), await keptNodes(journal, name)]
      if (began && nodes && !(await isOver(journal, { name, way: baseline.way })))
        return { is: 'done', note: `began at ${began.from}` }
      return {
        is: 'todo',
        change:
          'keep the release, the pools, the spec of HyperConverged, the alerts that fire and the marks of volumes and nodes in the journal',
      }
    },
    async apply({ reader, journal, clock }) {
      const at = clock.now().toISOString()
      if (await isOver(journal, { name, way: baseline.way }))
        await journal.record({
          at,
          by: '',
          procedure: name,
          step: '',
          what: 'finished',
          text: 'it was given back before',
        })
      const { standing } = await readPlatform(reader)
      await keepBaseline(journal, name, { from: standing.version ?? '', ...baseline })
      await keepVolumes(journal, name, reader)
      await keepHyperConverged(journal, name, reader)
      await keepAlerts(journal, name, reader)
      await keepNodes(journal, name, reader)
    },
  }
}

/**
 * Kept for a window whose loans were all given back, by a command that ended before it could forget this: pools stayed behind in it, and in the one that
 * begins they follow. One in which nothing was borrowed goes on the way it began.
 */
async function isOver(
  journal: JournalReader,
  { name, way }: { name: string } & Pick<Baseline, 'way'>,
): Promise<boolean> {
  const began = await keptBaseline(journal, name)
  if (began === undefined || began.way === way) return false
  return !(await journal.loans()).some(({ procedure }) => procedure === name)
}
