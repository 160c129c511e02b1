import type { Context } from '../../context.ts'
import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import type { Override } from '../../lib/engine/journal.ts'
import { resumeLine } from '../../lib/engine/change.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import type { Reader } from '../../lib/kube/cluster.ts'
import { type ExitCode, exitCode, KvupError } from '../../lib/kube/errors.ts'
import { goDuration } from '../../lib/kube/duration.ts'
import { Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { chooseMethod } from '../../lib/upgrade/upgrade-plan.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import type { ClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import { ObservedStages } from '../../lib/rehearsal/observed-stages.ts'
import { ObservedVms } from '../../lib/rehearsal/observed-vms.ts'
import type { Played, RehearsalOutcome, RehearsedFailure } from '../../lib/rehearsal/rehearsal.ts'
import { fieldOf } from '../../lib/status/cluster-state.ts'
import { statusReport } from '../../lib/status/status-report.ts'
import { countTries, isInstalled } from '../../lib/output/views/rehearsal.ts'
import { overrideRemedy } from '../../lib/output/views/report-lines.ts'
import { overrideId } from '../../lib/vms/update-methods.ts'
import { seedVms, launcherImage } from '../../simulator/seeded-vms.ts'
import { seeded } from '../../simulator/machinery/controller.ts'
import { promiseTurns, SimClock } from '../../simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../simulator/simulated-cluster.ts'
import { manifestText } from '../demo/demo.ts'
import { runInside, type Typed } from '../run-inside.ts'
import { upgradeCommand } from '../upgrade.ts'
import { type RehearsedUpgrade, upgradeLine } from './rehearsed-upgrade.ts'

export interface Play {
  twin: ClusterTwin
  upgrade: RehearsedUpgrade
  seed: number
  /** When the cluster was seen: the twin's time begins there. */
  at: Date
}

/** Carries the upgrade out on a twin of its own. Throws what was typed wrong (exit 2), and what ends this process. */
export async function playTwin(cx: Context, asked: Play): Promise<Played> {
  const { twin, seed, at } = asked
  const clock = new SimClock(at.toISOString(), promiseTurns())
  const random = seeded(seed)
  // Time on the twin would pass while the command is loaded: more of it on a busy machine.
  await import('../upgrade/upgrade.ts')
  const simulated = await simulate({ clock, ...twin.shape, random, isLean: true })
  try {
    const { namespace = 'kubevirt' } = twin.shape
    seedVms(simulated.store, twin.inhabitants, { namespace, random, now: at.toISOString() })
    await clock.sleep(settling)
    simulated.faults.set(twin.faults)
    const observed = new ObservedVms(simulated.store)
    const stages = new ObservedStages()
    const ended = await upgradeOn(cx, { simulated, clock, stages, asked })
    const began = stages.began ?? clock.now().getTime()
    const upgraded = clock.now().getTime()
    const outcome = outcomeOf(ended, stages)
    const lastMove = isInstalled(outcome)
      ? await vmsSettle(simulated, { clock, observed, namespace })
      : upgraded
    observed.stop()
    const vms = observed.vms(launcherImage(simulated.store, namespace), began, isInstalled(outcome))
    return {
      outcome,
      code: ended.code,
      method: methodOf(asked),
      ...(stages.began !== undefined && { upgradeSeconds: Math.round((upgraded - began) / 1000) }),
      ...(lastMove > upgraded && { vmUpdateSeconds: Math.round((lastMove - upgraded) / 1000) }),
      tries: countTries(vms),
      stages: stages.stages(),
      vms,
      ...(ended.error && { why: await whyOf(ended.error, simulated, clock) }),
      left: await leftOpen(simulated, { namespace, clock }),
    }
  } finally {
    await simulated.stop()
  }
}

/** Of an upgrade that the cluster itself refuses. */
export const refusedUpgrade = (asked: Play, refusal: KvupError): Played => ({
  outcome: 'blocked',
  code: refusal.exitCode,
  method: methodOf(asked),
  tries: countTries([]),
  stages: [],
  vms: [],
  why: { reason: refusal.reason, message: refusal.message, notes: refusal.notes, remedy: refusal.remedy },
  left: [],
})

/** So long the twin is left alone with its inhabitants before anything is done, in ms. */
const settling = 60_000

/** So long the upgrade waits on the twin where nothing moves any more, in ms: longer than kvup takes to be sure of any cause. */
const stalledAfter = 15 * 60_000

/** Without the flag that nobody typed. */
const ownFlag = /^stalled for [\d a-z]+ \(--stalled-after\)(?: at (?<step>[^:]+))?: /u

async function whyOf(error: KvupError, simulated: SimulatedCluster, clock: Clock): Promise<RehearsedFailure> {
  const { reason, notes, remedy } = error
  const message = error.message.replace(ownFlag, (_, step?: string) =>
    step === undefined ? '' : `${step}: `,
  )
  const finds = await foundAtEnd(simulated.cluster().reader, clock)
  const more = finds.filter((sentence) => !message.includes(sentence))
  return {
    reason,
    message,
    notes,
    ...(more.length > 0 && { finds: more }),
    remedy: withoutPods(remedy, simulated),
  }
}

/** Pods of the twin are not in the cluster: there the same line looks at all pods of that component. */
function withoutPods(lines: readonly string[], { store }: SimulatedCluster): readonly string[] {
  const labels = new Map(
    store.list(Pods).items.map(({ metadata }) => [metadata.name, metadata.labels?.['kubevirt.io']]),
  )
  return lines.flatMap((line) => {
    const words = line.split(' ')
    const at = words.findIndex((word) => labels.has(word.replace(/^pods?\//u, '')))
    if (at < 0) return [...labels.keys()].some((pod) => line.includes(pod)) ? [] : [line]
    const label = labels.get(words[at]?.replace(/^pods?\//u, '') ?? '')
    if (label === undefined) return []
    // Of those that never restarted there is no earlier log: that is no reason to leave out the others.
    const rest = words.includes('logs') ? ['--ignore-errors'] : []
    return [[...words.with(at, `-l kubevirt.io=${label}`), ...rest].join(' ')]
  })
}

/** So many causes are kept. */
const causesAtMost = 3

/** The causes that `kvup status` would tell there. */
async function foundAtEnd(reader: Reader, clock: Clock): Promise<readonly string[]> {
  try {
    const { why = [] } = await statusReport(reader, clock)
    return why.slice(0, causesAtMost).map(({ sentence }) => sentence)
  } catch (error) {
    if (error instanceof KvupError) return []
    throw error
  }
}

/** What `kvup history` would still list as changed for a time. */
async function leftOpen(
  simulated: SimulatedCluster,
  { namespace, clock }: { namespace: string; clock: Clock },
): Promise<Played['left']> {
  const journal = configMapJournal(simulated.cluster(), { namespace, who: '', clock })
  const open = await journal.overrides()
  return open.map((override) => ({
    what: leftWords(override),
    restores: overrideRemedy(override),
  }))
}

function leftWords(override: Override): string {
  const { id } = override
  if (id === overrideId) return 'automatic VM updates are paused'
  return `${fieldOf(override)} is changed`
}

/** As the upgrade itself chooses it, where nobody else did. */
const methodOf = ({ upgrade: { method, to }, twin }: Play): Method =>
  chooseMethod(method, twin.installation, parseVersion(to))

/** Also where VMs were lost meanwhile. */
const isThrough = ({ code }: Ended): boolean => code === exitCode.done || code === exitCode.lost

function outcomeOf(ended: Ended, { began }: ObservedStages): RehearsalOutcome {
  if (isThrough(ended)) return 'through'
  if (began === undefined) return 'blocked'
  return outcomes[ended.error?.reason ?? ''] ?? 'stops'
}

/** By the reason that the upgrade ends with. */
const outcomes: Readonly<Record<string, RehearsalOutcome>> = {
  stalled: 'stalls',
  'timed-out': 'timed-out',
  degraded: 'degraded',
}

interface Ended {
  code: ExitCode
  error?: KvupError
}

interface Stage {
  simulated: SimulatedCluster
  clock: SimClock
  stages: ObservedStages
  asked: Play
}

/** The upgrade as it would be typed, with nobody to ask. Throws what was typed wrong, and what ends this process. */
async function upgradeOn(cx: Context, stage: Stage): Promise<Ended> {
  const { asked } = stage
  try {
    return { code: await runInside(insideTwin(cx, stage), lineFor(asked)) }
  } catch (error) {
    if (cx.signal.aborted) throw endedByUser(cx, error)
    if (!(error instanceof KvupError) || error.exitCode === exitCode.usage) throw error
    return { code: error.exitCode, error }
  }
}

/** What was interrupted is the rehearsal: the line of the upgrade would begin that in the cluster. */
function endedByUser({ world }: Context, error: unknown): unknown {
  if (!(error instanceof KvupError)) return error
  return new KvupError(error.exitCode, error.reason, error.message, {
    notes: ['nothing was changed in the cluster'],
    remedy: resumeLine(world, 'plays it from the beginning'),
    cause: error,
  })
}

function lineFor(asked: Play): Typed {
  const { upgrade } = asked
  const { flags, accept } = upgrade
  const line = upgradeLine(upgrade)
  const args = [
    '--to',
    upgrade.to,
    ...flags.flat(),
    ...accept.flatMap((risk) => ['--accept', risk]),
    '--stalled-after',
    `${stalledAfter / 60_000}m`,
  ]
  const method = methodOf(asked)
  const manifest = method === 'operator-manifest' ? ['--manifest-base', ownBase] : []
  return { line, command: upgradeCommand, args: [...args, '--method', method, ...manifest] }
}

/** Where the upgrade finds the manifest of each release that it goes through: nothing is fetched. */
const ownBase = 'twin'
const ownManifest = /^twin\/(?<version>[^/]+)\/kubevirt-operator\.yaml$/u

/** Time stands still while a file is read. */
function insideTwin(cx: Context, { simulated, clock, stages }: Stage): Context {
  const cluster = simulated.cluster()
  return {
    ...cx,
    clock,
    cluster: async () => cluster,
    prompt: { confirm: async () => true },
    printer: {
      result: () => undefined,
      unchanged: () => undefined,
      rows: () => ({ add: () => undefined, end: () => undefined }),
      event: (event) => stages.hear(event),
      awaiting: () => undefined,
      note: () => undefined,
      warn: () => undefined,
    },
    flags: { ...cx.flags, yes: true },
    world: {
      ...cx.world,
      async readText(file) {
        const version = ownManifest.exec(file)?.groups?.['version']
        if (version === undefined) return clock.during(cx.world.readText(file))
        return manifestText(simulated.operatorManifest(version))
      },
      writeText: async () => undefined,
    },
  }
}

interface Settling {
  clock: Clock
  observed: ObservedVms
  namespace: string
}

/** Lets KubeVirt do with VMs what it does by itself, and tells when the last one was done (ms since the epoch). */
async function vmsSettle(
  simulated: SimulatedCluster,
  { clock, observed, namespace }: Settling,
): Promise<number> {
  const image = launcherImage(simulated.store, namespace)
  const patience = patienceWith(simulated, namespace)
  let left = observed.outdated(image)
  let changed = clock.now().getTime()
  while (left > 0 && clock.now().getTime() - changed < patience) {
    await clock.sleep(2000)
    const now = observed.outdated(image)
    if (now !== left) changed = clock.now().getTime()
    left = now
  }
  return changed
}

/** How long nothing has to change before nothing more is expected, in ms: longer than migrations wait for a node, and than batches lie apart. */
function patienceWith({ store }: SimulatedCluster, namespace: string): number {
  const [kubevirt]: readonly KubeVirt[] = store.list(KubeVirts, { namespace }).items
  const { workloadUpdateMethods, batchEvictionInterval = '1m' } = kubevirt?.spec?.workloadUpdateStrategy ?? {}
  if ((workloadUpdateMethods ?? []).length === 0) return 0
  return Math.max(15 * 60_000, 2 * (goDuration(batchEvictionInterval) ?? 0))
}
