import type { Doubt, Standing } from '../../kubevirt/rollout-status.ts'
import type { ReadContext, Step, StepState } from '../../engine/step.ts'
import type { Owner } from '../../vms/update-methods.ts'
import { look, type Look, lookFollows } from '../upgrade-snapshot.ts'
import { minutes, seconds, ticks } from '../../kube/clock.ts'
import { holderOf, newControllerLeads } from '../../kubevirt/lease-holders.ts'
import { countUnlabelled } from '../../vms/outdated-count.ts'
import type { Snapshot } from '../../kubevirt/snapshot.ts'
import { type Cause, concerns } from '../../kubevirt/diagnosis/cause.ts'
import { itemsOf } from '../../kube/known.ts'

interface SettledFor {
  id: string
  title: string
  /** Absent: whichever version is installed. */
  version?: string
  /** ms without a bad look in between. */
  settleMs: number
  /** How long doubts are waited for as well; absent: they are only named. */
  patience?: Patience
}

/**
 * Done means Settled, and so for a while: Available once is no proof, the real operator was seen to fall back to
 * DeploymentFailed 4 s later and heal (lab README, Seen 2). Any worse look starts the clock again. A doubt is waited for no longer
 * than the patience lasts, and is named then.
 */
export function settledFor(owner: Owner, { id, title, version, settleMs, patience }: SettledFor): Step {
  let goodSince: number | undefined
  const broken = new Broken()
  return {
    id,
    title,
    patience: { every: Math.min(5 * seconds, Math.max(settleMs / 4, 250)), atMost: 60 * minutes },
    estimate: settleMs + 5 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const seen = await look(cx, owner)
      const { standing } = seen
      const now = ticks(cx.clock)
      patience?.saw(seen, now)
      const end = broken.after(seen.faults, now)
      if (end !== undefined) return end
      if (
        standing.verdict !== 'Settled' ||
        (version !== undefined && standing.observed.version !== version)
      ) {
        goodSince = undefined
        const on =
          standing.verdict === 'Settled'
            ? `${version} to be observed`
            : (standing.waitingFor ?? 'KubeVirt to settle')
        return stalledOr(standing, undefined, { is: 'waiting', on })
      }
      goodSince ??= now
      const held = now - goodSince
      if (held < settleMs)
        return { is: 'waiting', on: `it to stay settled for ${Math.round(settleMs / seconds)}s` }
      const [doubt] = patience?.waitsFor(standing.doubts, now) ?? []
      return doubt ? waitingFor(doubt) : doneAfter(held, settleMs, standing.doubts)
    },
  }
}

/** KubeVirt says that it is done: what is waited for beyond that, and that it is not for long. */
const waitingFor = ({ sentence, look: remedy }: Doubt): StepState => ({
  is: 'waiting',
  on: `KubeVirt says that it is done; for 2m at most: ${sentence}`,
  remedy,
})

function doneAfter(held: number, settleMs: number, doubts: readonly Doubt[]): StepState {
  const notes = [
    ...(settleMs > 0 ? [`settled for ${Math.round(held / seconds)}s`] : []),
    ...doubts.map(({ sentence }) => sentence),
  ]
  return { is: 'done', ...(notes.length > 0 && { note: notes.join('; ') }) }
}

/** The first of the two rolls of night U2: the new operator takes the pinned version over. */
export function settledAtOldVersion(
  owner: Owner,
  { version, settleMs }: { version: string; settleMs: number },
): Step {
  const title = `settle at ${version} under the new operator`
  const patience = new Patience()
  return settledFor(owner, { id: 'settled-at-old-version', title, version, settleMs, patience })
}

/**
 * At "done" the outdated count is a stale 0 until a virt-controller of the new version holds its Lease and has labelled the
 * VMIs (lab README, Seen 10 and 15): before that nothing may be said of outdated workloads. Both are doubts: another release may
 * elect and label otherwise, so they are waited for no longer than the patience lasts.
 */
export function newControllerAtWork(owner: Owner, patience: Patience = new Patience()): Step {
  const missing = seldom(countUnlabelled)
  return {
    id: 'virt-controller-leads',
    title: 'outdated workloads are known',
    patience: { every: 3 * seconds, atMost: 60 * minutes },
    estimate: 15 * seconds,
    follows: lookFollows(owner),
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const seen = await look(cx, owner)
      const now = ticks(cx.clock)
      patience.saw(seen, now)
      const doubt = await controllerDoubt(seen.snapshot, () => missing(cx, seen.snapshot))
      if (!doubt) return { is: 'done' }
      const [waited] = patience.waitsFor([doubt], now)
      return waited ? waitingFor(waited) : { is: 'done', note: doubt.sentence }
    },
  }
}

/** What keeps counts of outdated VMs from being believed; `missing` says how many VMIs are not labelled and should be. */
export async function controllerDoubt(
  snapshot: Snapshot,
  missing: () => Promise<number>,
): Promise<Doubt | undefined> {
  const namespace = snapshot.kubevirts.known ? snapshot.kubevirts.items[0]?.metadata.namespace : undefined
  if (newControllerLeads(snapshot) === false) {
    const holder = holderOf(snapshot, 'virt-controller', namespace) ?? 'nobody'
    return {
      id: 'controller-lease',
      sentence: `the Lease of virt-controller is held by ${holder}, which is no pod of the new version: outdated VMs may not be counted yet`,
      look: [`kubectl -n ${namespace ?? ''} get lease virt-controller -o yaml`],
    }
  }
  const left = await missing()
  if (left === 0) return undefined
  return {
    id: 'vms-not-labelled',
    sentence: `virt-controller has not labelled ${left} ${left === 1 ? 'VM' : 'VMs'} on an old virt-launcher as outdated`,
    look: ['kubectl get vmi -A -l kubevirt.io/outdatedLauncherImage'],
  }
}

type Count = (reader: ReadContext['reader'], snapshot: Snapshot) => Promise<number>

/** All VMIs are listed for it: at most every five seconds, however often the step is woken. */
function seldom(count: Count): (cx: ReadContext, snapshot: Snapshot) => Promise<number> {
  let last: { at: number; count: number } | undefined
  return async ({ reader, clock }, snapshot) => {
    const now = ticks(clock)
    if (last === undefined || last.count === 0 || now - last.at >= 5 * seconds)
      last = { at: now, count: await count(reader, snapshot) }
    return last.count
  }
}

type Waiting = Extract<StepState, { is: 'waiting' }>

/**
 * The waiting state with what stands in its way: a cause of this component, or of anything when none is named. It stalls only
 * when the verdict says so; before that the cause is told as it is.
 */
export function stalledOr(standing: Standing, component: string | undefined, waiting: Waiting): StepState {
  const cause = standing.why.find((c) => component === undefined || concerns(c, component)) ?? standing.why[0]
  if (!cause) return waiting
  const counts = standing.verdict === 'Stalled' || standing.verdict === 'Degraded'
  if (!counts) return { ...waiting, trouble: cause.sentence, remedy: cause.look }
  const since = cause.since ?? standing.since
  return {
    is: 'stalled',
    on: waiting.on,
    why: cause.sentence,
    remedy: cause.look,
    ...(since !== undefined && { since }),
    ...(waiting.progress && { progress: waiting.progress }),
  }
}

/** How long what is broken beside KubeVirt's own word is waited for, ms. */
const patience = 2 * minutes

/**
 * KubeVirt says that all is well, and something was measured that is not: it is waited for behind KubeVirt's word for two minutes, and then the run ends
 * as Degraded (exit 3), for that is no doubt of ours.
 */
export class Broken {
  #since: number | undefined

  /** What ends the run; undefined while nothing does. `now` in ms. */
  after(faults: readonly Cause[], now: number): StepState | undefined {
    const [first] = faults
    if (first === undefined) {
      this.#since = undefined
      return undefined
    }
    this.#since ??= now
    if (now - this.#since < patience) return undefined
    return {
      is: 'blocked',
      reason: 'degraded',
      by: `KubeVirt says that all is well, and is Degraded: ${faults.map(({ sentence }) => sentence).join('; ')}`,
      remedy: first.look,
    }
  }
}

/** For how long behind KubeVirt's own done a doubt is waited for, ms. */
const doubtsAtMost = 2 * minutes

/**
 * What the steps of one run share behind KubeVirt's own done: for how long a doubt is waited for still, and since when every DaemonSet
 * is rolled. Kept in memory: a run that is resumed begins anew, as `--settle` does. All times are ticks of one clock, ms.
 */
export class Patience {
  #doneSince: number | undefined
  #rolledSince: number | undefined
  #rolledTemplates: string | undefined
  readonly #givenUp = new Set<string>()

  /** Takes a look into account; what is asked later is about it. */
  saw({ standing, snapshot }: Look, now: number): void {
    if (standing.verdict === 'Settled') this.#doneSince ??= now
    else this.#doneSince = undefined
    this.#templates = itemsOf(snapshot.daemonsets)
      .map(({ metadata, spec }) => `${metadata.name} ${JSON.stringify(spec?.template)}`)
      .toSorted()
      .join('\n')
    const rolling = standing.components.some(({ kind, state }) => kind === 'DaemonSet' && !isRest.has(state))
    if (rolling) this.#rolledSince = undefined
    else {
      this.#rolledSince ??= now
      this.#rolledTemplates = this.#templates
    }
  }

  #templates = ''

  /** Those of the doubts that are waited for still; one that was waited for long enough is not waited for again. */
  waitsFor(doubts: readonly Doubt[], now: number): readonly Doubt[] {
    const isOver = this.#doneSince !== undefined && now - this.#doneSince >= doubtsAtMost
    if (isOver) for (const doubt of doubts) this.#givenUp.add(keyOf(doubt))
    return doubts.filter((doubt) => !this.#givenUp.has(keyOf(doubt)))
  }

  /** For how long every DaemonSet was rolled by its own status, at every look, ms; undefined while one is rolling. */
  rolledFor(now: number): number | undefined {
    return this.#rolledSince === undefined ? undefined : now - this.#rolledSince
  }

  /** A DaemonSet rolls to a template that it had at no earlier look at which all were rolled. */
  get rollsAnew(): boolean {
    return (
      this.#rolledSince === undefined &&
      this.#rolledTemplates !== undefined &&
      this.#templates !== this.#rolledTemplates
    )
  }
}

const isRest: ReadonlySet<string> = new Set(['current', 'absent'])

/** Ages and counts in a sentence move by themselves. */
const keyOf = ({ id, sentence }: Doubt): string => `${id} ${sentence.replaceAll(/\d+/gu, '')}`
