import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { ticks } from '../../system/clock.ts'
import { hours, minutes, seconds } from '../../system/units.ts'
import { lookAtOperator, type OperatorScene, sceneFollows } from '../../upgrade/olm/operator-scene.ts'
import { catalogNow } from './catalog-now.ts'
import { csvsOnPath, type HopPath, minorOfCsv, type NamedCsv, offPath, pathInHop } from './csvs-on-path.ts'
import type { OperatorPart } from './operator-part.ts'
import { PatienceByHealth } from './patience-by-health.ts'

interface Latest {
  /** The last release that is known; undefined where none of this hop is yet. */
  after: NamedCsv | undefined
  hop: HopPath
  /** That goes on, to be repeated with a flag more. */
  command: string
}

/**
 * Done once there is a later release to go to, or the path has none for this minor, or, where no path is known, the catalog of this minor answers and has none
 * (night E4): "the latest that is known" says nothing before the catalog itself was replaced, which takes up to 15 minutes (ocp 2.1). A release of a minor
 * comes days or weeks after the platform's: so long it is waited for, as long as the catalog answers.
 */
export function operatorLatest(part: OperatorPart, latest: Latest): Step {
  const { subscription } = part.operator
  const patience = new PatienceByHealth({ every: 15 * seconds, well: 14 * 24 * hours, wrong: 2 * hours })
  const behind = latest.after === undefined ? '' : `-after-${latest.after.version}`
  return {
    id: `operator-releases-${part.minor}${behind}`,
    title: `releases of virtualization for ${part.minor}`,
    patience,
    estimate: 10 * minutes,
    follows: sceneFollows({ subscription }),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ reader, clock }: ReadContext): Promise<StepState> {
      const scene = await lookAtOperator(reader, { subscription })
      const last = csvsOnPath(scene, latest.hop).at(-1)
      if (last !== undefined && last.csv !== latest.after?.csv)
        return { is: 'done', note: `${last.version} is next` }
      const end = plannedEnd(part, latest)
      if (end !== undefined) return { is: 'done', note: `${end}, as planned` }
      const catalog = await catalogNow(reader, scene.subscription, latest.command)
      patience.saw(catalog.is === 'answers' ? 'well' : 'wrong', ticks(clock))
      return noneLeft({ scene, latest }, catalog)
    },
  }
}

/** Its version, where it is reached. */
function plannedEnd({ stops }: OperatorPart, { after, hop }: Latest): string | undefined {
  const csv = pathInHop(hop)?.findLast((one) => minorOfCsv(one, hop.releases) === hop.minor)
  if (csv !== undefined) return csv === after?.csv ? after.version : undefined
  const version = stops.findLast((stop) => stop.version !== undefined)?.version
  return version !== undefined && version === after?.version ? version : undefined
}

interface Question {
  scene: OperatorScene
  latest: Latest
}

function noneLeft(question: Question, catalog: Awaited<ReturnType<typeof catalogNow>>): StepState {
  if (catalog.is === 'waits') return catalog.state
  const { scene, latest } = question
  const { after, hop } = latest
  if (after !== undefined && isLatest(scene, after, catalog.head))
    return { is: 'done', note: `${after.version} is the latest` }
  const isOfMinor = minorOfCsv(catalog.head, hop.releases) === hop.minor
  const stray = isOfMinor ? offPath(scene, hop) : undefined
  return stray === undefined ? waitingFor(question, catalog.head) : straying(stray, question)
}

function isLatest({ subscription }: OperatorScene, { csv }: NamedCsv, head: string): boolean {
  const { installedCSV, state } = subscription.status ?? {}
  return state === 'AtLatestKnown' && installedCSV === csv && head === csv
}

function waitingFor({ scene: { subscription }, latest: { after, hop } }: Question, head: string): StepState {
  const { source = '', channel = '', name = '' } = subscription.spec ?? {}
  const on =
    after === undefined
      ? `catalog ${source} to offer a release for ${hop.minor}`
      : `OLM to resolve what comes after ${after.version}`
  return {
    is: 'waiting',
    on,
    trouble: `the head of channel ${channel} is ${head} now`,
    remedy: [`oc get packagemanifest ${name} -o yaml`],
  }
}

/** It blocks every later one (ocp 2.3 #3); kvup itself deletes none. */
function straying(csv: string, { scene, latest }: Question): StepState {
  const { hop, command } = latest
  const { name = '', namespace = '' } = scene.plan?.metadata ?? {}
  const path = (pathInHop(hop) ?? []).join(' → ')
  return {
    is: 'blocked',
    reason: 'plan-off-path',
    by: `InstallPlan ${name} would install ${csv}, which is not on the path (${path}): it may lead nowhere, and OLM resolves nothing else while it waits`,
    remedy: [
      `oc -n ${namespace} delete installplan ${name}     lets OLM resolve again, to the present head of its channel`,
      `${command} --catalog-file FILE     where a later catalog has another path`,
      `${command} --accept operator-stranded     takes whatever OLM resolves`,
    ],
  }
}
