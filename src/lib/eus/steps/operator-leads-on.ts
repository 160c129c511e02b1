import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { hours, seconds } from '../../system/units.ts'
import { lookAtOperator, sceneFollows } from '../../upgrade/olm/operator-scene.ts'
import type { EusWindow } from '../run/window.ts'
import { minorOfCsv } from './csvs-on-path.ts'
import { platformFollows, readPlatform } from './read-platform.ts'
import { isAccepted, type Stop } from './at-stop.ts'
import { minorOfPlatform } from '../../releases/platform-version.ts'

type Following = Pick<EusWindow, 'releases'> & {
  id: string
  stop: Stop
  operator: NonNullable<EusWindow['plan']['operator']>
  accepted: readonly string[]
  /** The catalog file says that nothing leads on. */
  isStranded: boolean
  /** That goes on, to be repeated with a flag more. */
  command: string
}

/**
 * Before the platform goes to another minor it has to be known that a release of the operator for it is reached from the one that is installed (ocp 9.15, night
 * E4): one without an edge is stranded behind the platform, and there is no way back. Passed once the hop was accepted.
 */
export function operatorLeadsOn(following: Following): Step {
  const { id, stop, operator } = following
  return {
    id,
    title: `the operator's way to ${stop.minor}`,
    patience: { every: 15 * seconds, atMost: hours },
    estimate: seconds,
    follows: [...platformFollows, ...sceneFollows(operator)],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader }: ReadContext): Promise<StepState> {
      const { standing } = await readPlatform(reader)
      if (isAccepted(standing, stop) || minorOfPlatform(standing.target) === stop.minor) return { is: 'done' }
      const { subscription } = await lookAtOperator(reader, operator)
      return leadsOn(subscription.status?.installedCSV ?? '', following)
    },
  }
}

function leadsOn(installed: string, following: Following): StepState {
  const { operator, stop, releases, accepted, command, isStranded } = following
  const { path = [] } = operator
  const at = path.indexOf(installed)
  const to = path.slice(at + 1).find((csv) => minorOfCsv(csv, releases) === stop.minor)
  if (at >= 0 && to !== undefined) return { is: 'done', note: `${installed} leads on to ${to}` }
  const isLeft = isStranded || (at < 0 && path.some((csv) => minorOfCsv(csv, releases) === stop.minor))
  const risk = isLeft ? 'operator-stranded' : 'operator-way-unknown'
  if (accepted.includes(risk))
    return { is: 'done', note: `whether ${installed} leads on is not known: accepted` }
  return {
    is: 'blocked',
    reason: risk,
    by: isLeft
      ? `${installed} is installed, and no path leads on from it to ${stop.minor}${pathText(path)}: the operator would be stranded behind the platform`
      : `nothing says whether a release of the operator leads from ${installed} on to ${stop.minor}: it may be stranded behind the platform`,
    remedy: [
      `${command} --catalog-file FILE     knows its way; opm render CATALOG-IMAGE -o yaml > FILE makes one, of the minor at the end`,
      `${command} --accept ${risk}     lets the platform go on all the same`,
    ],
  }
}

/** Where it would have led from another release. */
const pathText = (path: readonly string[]): string =>
  path.length < 2 ? '' : ` (the path was ${path.join(' → ')})`
