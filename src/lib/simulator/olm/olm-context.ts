import type { ControllerContext } from '../machinery/controller.ts'
import type { Faults } from '../machinery/faults.ts'
import type { OlmFaults } from './faults.ts'
import type { OlmShape } from './shape.ts'

/** What every part of OLM has. Of the shape only the catalog's content and the manner of its steps are read: the rest is in the cluster. */
export interface OlmContext extends ControllerContext {
  readonly shape: OlmShape
  readonly faults: Pick<Faults<OlmFaults>, 'on'>
}

/** RFC 3339 in whole seconds. */
export const seconds = ({ clock }: Pick<ControllerContext, 'clock'>): string =>
  clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')

/** Ms since a time that the cluster wrote; a very long time where it wrote none. */
export function msSince({ clock }: Pick<ControllerContext, 'clock'>, time: string | undefined): number {
  return time === undefined ? Infinity : clock.now().getTime() - Date.parse(time)
}
