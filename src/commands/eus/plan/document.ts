import { randomUUID } from 'node:crypto'
import type { Context } from '../../../context.ts'
import type { EusPlan } from '../../../lib/eus/eus-plan.ts'
import type { EusPlanDocument } from '../../../lib/output/views/eus-plan-document.ts'
import { isBlocked } from '../../../lib/run/gate.ts'
import { coveredBy } from '../../../lib/seal/covered.ts'
import { reliedOnByEus } from '../../../lib/seal/eus-facts.ts'
import { type Seal, sealed } from '../../../lib/seal/seal.ts'
import { shellWord } from '../../../lib/system/shell-word.ts'
import { onlyFlag, withoutFlags, wordsOf } from '../../../lib/system/typed-line.ts'
import { typedFor } from '../approval-ahead.ts'
import type { EusPlanningOptions } from '../flags.ts'
import type { PlannedEus } from '../planned.ts'
import { plannedSteps } from './planned-steps.ts'

/** The plan as a document: sealed, with what to type next where it would not be refused. */
export async function eusPlanDocument(
  cx: Pick<Context, 'world' | 'clock' | 'printer'>,
  planned: PlannedEus,
  options: EusPlanningOptions & { toFile?: string },
): Promise<EusPlanDocument> {
  const found = await plannedSteps(planned, cx)
  const plan = withUnknown(planned.plan, notKnown(found, planned.plan.to))
  const accepted = planned.accepted.map((risk) => ({ ...risk, by: cx.world.who }))
  const pending = isPending(plan)
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'EusPlan',
    ...plan,
    pending,
    accepted,
    steps: 'why' in found ? [] : found.steps,
    request: requestOf(plan, options),
  } as const
  const mayBegin = pending && !isBlocked(plan.findings, planned.accepted)
  return {
    ...document,
    ...sealOf(cx, planned, document),
    next: mayBegin ? afterEusPlan(plan, cx.world.commandLine, options.toFile) : [],
  }
}

const withUnknown = (plan: EusPlan, what: readonly string[]): EusPlan => ({
  ...plan,
  unknown: [...plan.unknown, ...what],
})

/** Where pools follow, each minor is a window of its own, whose steps are worked out when it is its turn. */
function notKnown(found: { why: string } | { to: string }, to: string): readonly string[] {
  if ('why' in found) return [`the steps: ${found.why}`]
  return found.to === to ? [] : [`the steps behind ${found.to}: they are worked out when it is there`]
}

/** A pool that is left behind is something to do as well. */
function isPending({ hops, began, to, pools }: EusPlan): boolean {
  const isLeft = began !== to && pools.some(({ paused }) => paused)
  return (
    isLeft || hops.some(({ platform, operators }) => !platform.done || operators.some(({ done }) => !done))
  )
}

/** A default is kept as what it came to. */
function requestOf(
  { to }: EusPlan,
  { graphFile, catalogFile, releases }: EusPlanningOptions,
): Readonly<Record<string, unknown>> {
  return {
    to,
    ...(graphFile !== undefined && { graphFile }),
    ...(catalogFile !== undefined && { catalogFile }),
    ...(releases !== undefined && { releases }),
  }
}

/** Without the uid of kube-system nothing would tell for which cluster it is: no seal then, and why. */
function sealOf(
  { world, clock, printer }: Pick<Context, 'world' | 'clock' | 'printer'>,
  { evidence }: PlannedEus,
  document: Readonly<Record<string, unknown>>,
): { seal: Seal } | Record<string, never> {
  const { clusterUid, platform, lifecycle, hyperconverged } = evidence
  const { clusterVersion, pools } = platform
  const { subscriptions } = lifecycle
  const relied = reliedOnByEus({ clusterVersion, pools, subscriptions, hyperconverged, clusterUid })
  if (relied.cluster === undefined) {
    printer.warn(
      'the plan is not sealed: the namespace kube-system may not be read, so no uid tells the cluster',
    )
    return {}
  }
  for (const { id, why } of relied.unsealed)
    printer.warn(`the seal is without ${id}, a change of it will not be seen: ${why}`)
  const seal = sealed(
    {
      uid: randomUUID(),
      at: clock.now().toISOString(),
      by: world.who,
      cluster: relied.cluster,
      kvup: world.version,
      facts: relied.facts,
      unsealed: relied.unsealed,
    },
    coveredBy(document),
  )
  return { seal }
}

const ofLooking = { alone: ['--exit-code'], valued: ['--output', '-o', '--to-file', '--from'] }

/** What to type after `kvup eus plan`: with the file where there is one. */
function afterEusPlan(plan: EusPlan, typed: string, file: string | undefined): readonly string[] {
  const words = wordsOf(typed)
  if (file !== undefined)
    return [
      typedFor(plan, `kvup eus run --plan ${[shellWord(file), ...onlyFlag(words, '--releases')].join(' ')}`),
    ]
  const looking = withoutFlags(words, ofLooking)
  const at = looking.findIndex((word, i) => word === 'plan' && looking[i - 1] === 'eus')
  const run = looking.map((word, i) => (i === at ? 'run' : word))
  return [
    `${typedFor(plan, run.join(' '))}     carries it out`,
    `${looking.join(' ')} --to-file plan.yaml     keeps it, for ${typedFor(plan, 'kvup eus run --plan plan.yaml')}`,
  ]
}
