import { Subscriptions } from '../../cluster/kinds/operator-lifecycle.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { platformOfOperator } from '../../releases/bundled.ts'
import { compareOperatorVersions, versionOfCsv } from '../../releases/operator-version.ts'
import { operatorHopSteps } from '../../upgrade/olm/operator-hop.ts'
import { lookAtOperator, type OperatorScene } from '../../upgrade/olm/operator-scene.ts'
import { minutes, seconds } from '../../system/units.ts'
import type { OperatorNow, OperatorStop } from '../eus-plan.ts'
import type { EusWindow } from '../run/window.ts'
import { migrationsBefore } from './migrations-before.ts'
import { operatorInStep } from './operator-in-step.ts'
import { operatorLatest } from './operator-latest.ts'

/** The operator behind one hop of the platform. */
export interface OperatorPart {
  minor: string
  stops: readonly OperatorStop[]
  operator: OperatorNow
}

/**
 * Release after release as OLM resolves them, each by the steps of `kvup upgrade --method olm`, until the catalog of that minor has no later one (night E4): which
 * they are is known only when the catalog shows them, so the steps are asked for again whenever one is done.
 */
export async function operatorPart(
  window: EusWindow,
  part: OperatorPart,
  { reader }: ReadContext,
): Promise<readonly Step[]> {
  const { subscription, package: pack } = part.operator
  const csvs = csvsFor(await lookAtOperator(reader, { subscription }), part.minor, window)
  const { request, releases, kubevirt } = window
  const channel = part.stops.find((stop) => stop.channel !== undefined)?.channel
  const tools = { kubevirt, accepted: request.accepted, releases }
  const ask = (step: Step) => (request.approve ? step : onlyWhenAsked(step, request))
  const hops = csvs.flatMap(({ csv, version }) =>
    operatorHopSteps(
      {
        package: pack,
        subscription,
        csv,
        version,
        approveAlso: request.approveAlso,
        settleMs: request.settleMs,
      },
      tools,
    ),
  )
  return [
    ...(channel === undefined ? [] : [operatorChannel(part, channel)]),
    ...hops.flatMap((step) => migrationsBefore(step, request.accepted).concat(ask(step))),
    operatorLatest(part, { after: csvs.at(-1), csvsIn: (scene) => csvsFor(scene, part.minor, window) }),
    operatorInStep(part, releases),
  ]
}

/** Nobody said that kvup may approve: who does it by hand is joined. */
function onlyWhenAsked(step: Step, { command }: Pick<EusWindow['request'], 'command'>): Step {
  if (!step.id.startsWith('approve-')) return step
  return {
    ...step,
    async check(cx): Promise<StepState> {
      const state = await step.check(cx)
      if (state.is !== 'todo') return state
      return {
        is: 'blocked',
        reason: 'approval-needed',
        by: `the Subscription is Manual, and nobody said that kvup may approve: ${state.change}`,
        remedy: [
          `${command} --approve     approves exactly that InstallPlan, and those that this line still needs`,
        ],
      }
    },
  }
}

/** A CSV and its version. */
export interface NamedCsv {
  csv: string
  version: string
}

/** What is installed, resolved or about to be, of this minor of the platform; the oldest first. */
function csvsFor(
  { subscription, plan }: OperatorScene,
  minor: string,
  { releases }: Pick<EusWindow, 'releases'>,
): readonly NamedCsv[] {
  const { installedCSV = '', currentCSV = '' } = subscription.status ?? {}
  const stem = stemOf(installedCSV || currentCSV)
  const named = [installedCSV, currentCSV, ...(plan?.spec?.clusterServiceVersionNames ?? [])]
  const found = new Set(named.filter((csv) => csv !== '' && stemOf(csv) === stem))
  return [...found]
    .flatMap((csv) => {
      const version = versionOfCsv(csv)
      return version && platformOfOperator(version, releases) === minor ? [{ csv, version }] : []
    })
    .toSorted((a, b) => compareOperatorVersions(a.version, b.version))
    .map(({ csv, version }) => ({ csv, version: version.text }))
}

/** What stands before the version. */
const stemOf = (csv: string): string => csv.replace(/\.v\d.*$/u, '')

/** Where each minor has a channel of its own (ocp 1.1). A hop of the platform was accepted before it: it is not set back. */
function operatorChannel({ minor, operator: { subscription } }: OperatorPart, channel: string): Step {
  const { namespace, name } = subscription
  return {
    id: `operator-channel-${minor}`,
    title: `channel ${channel} of the operator`,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    follows: [{ kind: Subscriptions, where: { namespace } }],
    risk: { undo: 'none: the platform has left the minor before', safeToLeave: 'always' },
    shows: `oc -n ${namespace} get subscriptions.operators.coreos.com ${name} -o yaml --show-managed-fields`,
    async check({ reader }): Promise<StepState> {
      const now = (await lookAtOperator(reader, { subscription })).subscription.spec?.channel
      if (now === channel) return { is: 'done' }
      return {
        is: 'todo',
        change: `set the channel of subscription ${name} from ${now ?? 'none'} to ${channel}`,
      }
    },
    async apply({ reader, writer }) {
      const { metadata } = (await lookAtOperator(reader, { subscription })).subscription
      await writer.jsonPatch(Subscriptions, { namespace, name }, [
        { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
        { op: 'add', path: '/spec/channel', value: channel },
      ])
    },
  }
}
