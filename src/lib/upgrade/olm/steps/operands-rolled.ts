import { DaemonSets, Deployments } from '../../../cluster/kinds/apps.ts'
import { hyperConvergedStanding } from '../../../facts/hyperconverged/hyperconverged-standing.ts'
import type { ReadContext, Step, StepState } from '../../../procedure/step.ts'
import { ticks } from '../../../system/clock.ts'
import { minutes, seconds } from '../../../system/units.ts'
import { look, lookFollows } from '../../look.ts'
import { Broken } from '../../steps/broken.ts'
import { stalledOr } from '../../steps/stalled.ts'
import { hyperConvergedIn } from '../hyperconverged-in.ts'
import { type HopTools, labelOf, type OperatorHop } from '../operator-hop-types.ts'
import { isPast, lookAtOperator } from '../operator-scene.ts'
import { notRolled } from '../not-rolled.ts'
import { csvState } from './csv-succeeded.ts'

/** So many good looks in a row, whatever the time between them (ocp 5.1). */
const goodLooks = 3

/**
 * Conditions become good before all is rolled (ocp 5.1): the CSV has to be Succeeded still, KubeVirt Settled, every Deployment and DaemonSet of the namespace rolled,
 * and HyperConverged good, for as long as the hop says and several times in a row.
 */
export function operandsRolled(hop: OperatorHop, { kubevirt }: HopTools): Step {
  const { namespace } = hop.subscription
  const good = new GoodInARow(hop.settleMs)
  const broken = new Broken()
  const short = new ShortFor()
  return {
    id: `operands-rolled-${labelOf(hop)}`,
    title: `operands of ${hop.version} settle`,
    patience: {
      every: Math.max(Math.min(5 * seconds, hop.settleMs / goodLooks), 250),
      atMost: 12 * 60 * minutes,
    },
    estimate: hop.settleMs + 2 * minutes,
    follows: [
      ...lookFollows(kubevirt),
      { kind: Deployments, where: { namespace } },
      { kind: DaemonSets, where: { namespace } },
    ],
    dependsOn: [`approve-${labelOf(hop)}`],
    risk: { undo: 'none: OLM knows no downgrade', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const scene = await lookAtOperator(cx.reader, hop)
      if (isPast(scene.subscription, hop.csv)) return { is: 'done', note: 'OLM has gone on to a later one' }
      const csv = csvState(scene, hop, cx.clock.now())
      const missing = csv.is === 'done' ? await firstMissing(cx, hop, { kubevirt, broken, short }) : csv
      return good.after(missing, ticks(cx.clock))
    },
  }
}

/** What is not as it has to be; undefined where all is. */
async function firstMissing(
  cx: ReadContext,
  hop: OperatorHop,
  { kubevirt, broken, short }: Pick<HopTools, 'kubevirt'> & { broken: Broken; short: ShortFor },
): Promise<StepState | undefined> {
  const { namespace } = hop.subscription
  const { standing, faults } = await look(cx, kubevirt)
  const end = broken.after(faults, ticks(cx.clock))
  if (end !== undefined) return end
  if (standing.verdict !== 'Settled')
    return stalledOr(standing, undefined, { is: 'waiting', on: standing.waitingFor ?? 'KubeVirt to settle' })
  const [deployments, daemonsets] = await Promise.all([
    cx.reader.list(Deployments, { namespace }),
    cx.reader.list(DaemonSets, { namespace }),
  ])
  const rolling = notRolled(deployments, daemonsets)
  const remedy = [`kubectl -n ${namespace} get deployments,daemonsets,pods`]
  if (rolling && !rolling.isShort) return { is: 'waiting', on: rolling.what, remedy }
  const { good, why } = hyperConvergedStanding(await hyperConvergedIn(cx.reader, namespace))
  if (!good) return { is: 'waiting', on: `HyperConverged: ${why.join('; ')}` }
  return rolling && short.isWaitedFor(ticks(cx.clock))
    ? { is: 'waiting', on: `HyperConverged says that it is done; for 2m at most: ${rolling.what}`, remedy }
    : undefined
}

/** Pods that are missing somewhere while HyperConverged and KubeVirt say that they are done, which may be so for ever: waited for two minutes. */
class ShortFor {
  #since: number | undefined

  isWaitedFor(now: number): boolean {
    this.#since ??= now
    return now - this.#since < 2 * minutes
  }
}

/** Any worse look starts it again. */
class GoodInARow {
  readonly #settleMs: number
  #since: number | undefined
  #looks = 0

  constructor(settleMs: number) {
    this.#settleMs = settleMs
  }

  after(missing: StepState | undefined, now: number): StepState {
    if (missing !== undefined) {
      this.#since = undefined
      this.#looks = 0
      return missing
    }
    this.#since ??= now
    this.#looks++
    const held = now - this.#since
    // Who wants nothing to stay good asks once, as a status does.
    const enough = this.#settleMs === 0 ? 1 : goodLooks
    if (held >= this.#settleMs && this.#looks >= enough)
      return { is: 'done', note: `good ${this.#looks} times in a row, for ${Math.round(held / seconds)}s` }
    return { is: 'waiting', on: `it to stay good for ${Math.round(this.#settleMs / seconds)}s` }
  }
}
