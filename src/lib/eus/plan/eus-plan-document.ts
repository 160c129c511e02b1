import type { CommandContext } from '../../kube/world.ts'
import { isBlocked } from '../../releases/accepted-risks.ts'
import { KvupError } from '../../kube/errors.ts'
import { type PlannedEus, typedFor } from './planned-eus.ts'
import { randomUUID } from 'node:crypto'
import { coveredBy, type Seal, sealPlan } from '../../engine/sealed-plan.ts'
import { reliedOnByEus } from '../sealed-eus-facts.ts'
import { onlyFlag, shellWord, withoutFlags, wordsOf } from '../../kube/shell-line.ts'
import { atVersion } from '../../kube/object.ts'
import { KubeVirts } from '../../kube/kinds/kubevirt-kinds.ts'
import { eusProcedure } from '../eus-procedure.ts'
import { windowOf } from '../window.ts'
import { itemsOf } from '../../kube/known.ts'
import { managerOf } from '../../kubevirt/installation.ts'
import type { JournalReader } from '../../engine/journal.ts'
import { type Clock, seconds } from '../../kube/clock.ts'
import type { EusPlanningOptions } from '../run/eus-options.ts'
import type { EusPlan } from './eus-plan.ts'

/** `kvup.io/v1alpha1 EusPlan`: what `kvup eus plan` prints. */
export interface EusPlanDocument extends EusPlan {
  apiVersion: 'kvup.io/v1alpha1'
  kind: 'EusPlan'
  /** False: the platform and its operator are at the target, and nothing is paused. */
  pending: boolean
  /** Risks that were taken by name, why and by whom (`user@host`). */
  accepted: readonly { id: string; reason?: string; by?: string }[]
  /** The steps of `kvup eus run`, in order. */
  steps: readonly { id: string; title: string }[]
  /** The flags that it was made with. */
  request: Readonly<Record<string, unknown>>
  /** Ties the plan to the cluster that it was made for, by the uid of its namespace kube-system. */
  seal?: { uid: string; at: string; by: string; cluster: string }
  /** What to type to carry it out; nothing where it is done already, or would be refused. */
  next?: readonly string[]
}

/** The plan as a document: sealed, with what to type next where it would not be refused. */
export async function eusPlanDocument(
  cx: Pick<CommandContext, 'world' | 'clock' | 'printer'>,
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
  { world, clock, printer }: Pick<CommandContext, 'world' | 'clock' | 'printer'>,
  { snapshot }: PlannedEus,
  document: Readonly<Record<string, unknown>>,
): { seal: Seal } | Record<string, never> {
  const { clusterUid, platform, lifecycle, hyperconverged } = snapshot
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
  const seal = sealPlan(
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

const ofReading = { alone: ['--exit-code'], valued: ['--output', '-o', '--to-file', '--from'] }

/** What to type after `kvup eus plan`: with the file where there is one. */
function afterEusPlan(plan: EusPlan, typed: string, file: string | undefined): readonly string[] {
  const words = wordsOf(typed)
  if (file !== undefined)
    return [
      typedFor(plan, `kvup eus run --plan ${[shellWord(file), ...onlyFlag(words, '--releases')].join(' ')}`),
    ]
  const reading = withoutFlags(words, ofReading)
  const at = reading.findIndex((word, i) => word === 'plan' && reading[i - 1] === 'eus')
  const run = reading.map((word, i) => (i === at ? 'run' : word))
  return [
    `${typedFor(plan, run.join(' '))}     carries it out`,
    `${reading.join(' ')} --to-file plan.yaml     keeps it, for ${typedFor(plan, 'kvup eus run --plan plan.yaml')}`,
  ]
}

/** The steps of `kvup eus run`, as far as they are known before it, and the minor that they lead to; or why they are not. */
async function plannedSteps(
  { plan, snapshot, accepted, releases, reader }: PlannedEus,
  { clock }: { clock: Clock },
): Promise<{ steps: readonly { id: string; title: string }[]; to: string } | { why: string }> {
  const [kubevirt] = itemsOf(snapshot.kubevirts)
  if (kubevirt === undefined) return { why: 'there is no KubeVirt' }
  const { name, namespace = '', uid = '' } = kubevirt.metadata
  const window = windowOf(plan, {
    who: '',
    kubevirt: {
      kind: atVersion(KubeVirts, kubevirt.apiVersion.split('/').at(-1) ?? 'v1'),
      ref: { name, namespace },
      uid,
    },
    manager: managerOf(kubevirt) ?? { kind: 'plain' },
    releases,
    request: {
      accepted: accepted.map(({ id }) => id),
      approve: false,
      approveAlso: [],
      poolOrder: [],
      leaveRequested: false,
      settleMs: 30 * seconds,
      command: 'kvup eus run',
    },
  })
  try {
    const steps = await eusProcedure(window).steps({ reader, clock, journal: journalOf(snapshot) })
    return { steps: steps.map(({ id, title }) => ({ id, title })), to: window.to }
  } catch (error) {
    if (error instanceof KvupError) return { why: error.message }
    throw error
  }
}

/** What was read of it already; of a saved cluster nothing is written. */
function journalOf({ loans }: PlannedEus['snapshot']): JournalReader {
  return {
    entries: async () => [],
    loans: async () => itemsOf(loans),
    kept: async () => undefined,
  }
}
