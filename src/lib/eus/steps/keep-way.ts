import type { Step, StepState } from '../../procedure/step.ts'
import { minutes, seconds } from '../../system/units.ts'
import type { EusWindow } from '../run/window.ts'
import { covers, keepWay, keptWay, wayToKeep } from './kept-way.ts'

/** Writes down the releases that were chosen with a graph, a catalog or a sealed plan, so that a window that is open stays on its way without them. */
export function keepChosenWay(window: Pick<EusWindow, 'name' | 'hops' | 'plan'>): Step {
  const { name } = window
  const way = wayToKeep(window)
  return {
    id: 'keep-way',
    title: 'keep the releases that were chosen',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: seconds,
    follows: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }): Promise<StepState> {
      if (way === undefined || covers(await keptWay(journal, name), way)) return { is: 'done' }
      return { is: 'todo', change: 'keep in the journal which releases lie on the way' }
    },
    async apply({ journal }) {
      if (way !== undefined) await keepWay(journal, name, way)
    },
  }
}
