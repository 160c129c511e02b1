import type { Context } from '../../context.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { seal } from '../../lib/output/printer.ts'
import { fileTrouble } from '../../lib/kube/bounded-file.ts'
import { itemsOf, known } from '../../lib/kube/known.ts'
import { readClusterUid } from '../../lib/kubevirt/full-snapshot.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { rehearsalView, unknownTarget } from '../../lib/output/views/rehearsal.ts'
import {
  type ClusterTwin,
  notSimulated,
  type ObservedPace,
  observePace,
  readClusterTwin,
} from '../../lib/rehearsal/cluster-twin.ts'
import type { Played, Rehearsal } from '../../lib/rehearsal/rehearsal.ts'
import { playTwin, type Play, refusedUpgrade } from './play-twin.ts'
import { type JudgedUpgrade, judgeUpgrade } from './rehearsed-findings.ts'
import {
  nextLines,
  planningLine,
  rehearsedUpgrade,
  typedUpgrade,
  type UpgradeFlags,
} from './rehearsed-upgrade.ts'

export interface RehearseOptions extends UpgradeFlags {
  from?: string
  seed: string
  /** Where the rehearsal is saved, for `kvup upgrade --rehearsal`. */
  toFile?: string
}

/**
 * `kvup rehearse`: the upgrade, carried out on a twin of the cluster in this process. Exit 0: through, 4: it would stall or time out, 3: it is blocked, stops halfway, or ends
 * degraded.
 */
export async function rehearse(cx: Context, options: RehearseOptions): Promise<ExitCode> {
  const typed = typedUpgrade(options)
  const seed = seedOf(options)
  const read = await readerFor(cx, options.from)
  const { cluster, clock } = read
  cx.printer.awaiting('reading the cluster')
  const asItIs = await readClusterTwin(cluster.reader, clock, planningLine(typed, options))
  const pace = await observePace(cluster.reader, asItIs.shape.namespace ?? 'kubevirt')
  const twin = pace === undefined ? asItIs : pacedAs(asItIs, pace)
  const upgrade = rehearsedUpgrade(twin, typed)
  const judged = await judgeUpgrade(cx, { read, upgrade, options })
  const asked: Play = { twin, upgrade, seed, at: clock.now() }
  const [clusterUid] = itemsOf(await known(readClusterUid(cluster.reader)))
  cx.printer.awaiting('playing the upgrade on the twin')
  const onTwin = await playTwin(cx, asked)
  const played = judged.refusal && isBegun(onTwin) ? refusedUpgrade(asked, judged.refusal) : onTwin
  const document: Rehearsal = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'Rehearsal',
    ...(cluster.address && { cluster: cluster.address }),
    asOf: asked.at.toISOString(),
    ...(clusterUid !== undefined && { clusterUid }),
    product: 'KubeVirt',
    from: upgrade.from,
    to: upgrade.to,
    seed,
    twin: twin.counts,
    ...(pace && { pace }),
    findings: judged.findings,
    missing: [...twin.missing, ...notSimulated(twin, { method: played.method, to: upgrade.to })],
    next: [...unknownLines(judged), ...nextLines(played, upgrade, options)],
    ...played,
  }
  if (options.toFile !== undefined) await save(cx, options.toFile, document)
  cx.printer.result(document, rehearsalView)
  return codes[played.outcome]
}
/** A release that nobody made goes through on a twin as well. */
const unknownLines = (judged: JudgedUpgrade): readonly string[] =>
  unknownTarget(judged) === undefined ? [] : ['kvup releases     # lists the releases that kvup knows']

const isBegun = ({ outcome, stages }: Played): boolean => outcome !== 'blocked' && stages.length > 0

/** Writes what `-o json` prints. Throws `usage` for a file that cannot be written. */
async function save({ world }: Context, file: string, document: Rehearsal): Promise<void> {
  const text = `${JSON.stringify(seal(document, 'complete'), undefined, 2)}\n`
  await world.writeText(file, text).catch((cause: unknown) => {
    throw usageError(
      'rehearsal-not-saved',
      `the rehearsal cannot be written to ${file}: ${fileTrouble(cause, 'write')}`,
      { remedy: 'name a file that can be written: --to-file FILE', cause },
    )
  })
}

/** Pulls of the twin take as long as those of the last roll-out: what is over in a second is the twin's own pace. */
const pacedAs = (twin: ClusterTwin, { pullSeconds }: ObservedPace): ClusterTwin =>
  pullSeconds <= 1 ? twin : { ...twin, faults: { ...twin.faults, pullsTake: pullSeconds * 1000 } }

const codes = {
  through: exitCode.done,
  degraded: exitCode.blocked,
  stalls: exitCode.timedOut,
  'timed-out': exitCode.timedOut,
  stops: exitCode.blocked,
  blocked: exitCode.blocked,
} as const

function seedOf({ seed }: RehearseOptions): number {
  const number = Number(seed)
  if (/^\d+$/u.test(seed) && Number.isSafeInteger(number)) return number
  throw usageError('seed', `--seed takes a whole number, not ${JSON.stringify(seed)}`)
}
