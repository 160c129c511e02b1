import type { Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import { type Baseline, keepBaseline, keptBaseline } from './kept.ts'
import { keepHyperConverged } from './kept-hyperconverged.ts'
import { keepNodes, keptNodes } from './kept-nodes.ts'
import { keepVolumes } from './kept-volumes.ts'
import { readPlatform } from './platform-now.ts'

/**
 * Writes down, before anything is changed, what nobody could tell later: the release, the pools, volumes, the spec of the HyperConverged, the labels
 * and taints of the nodes, which come last: with them it is whole.
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
      if (began && nodes) return { is: 'done', note: `began at ${began.from}` }
      return {
        is: 'todo',
        change:
          'keep the release, the pools, the spec of HyperConverged and the marks of volumes and nodes in the journal',
      }
    },
    async apply({ reader, journal }) {
      const { standing } = await readPlatform(reader)
      await keepBaseline(journal, name, { from: standing.version ?? '', ...baseline })
      await keepVolumes(journal, name, reader)
      await keepHyperConverged(journal, name, reader)
      await keepNodes(journal, name, reader)
    },
  }
}
