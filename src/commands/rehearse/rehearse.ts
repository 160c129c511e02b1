import type { Context } from '../../context.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { seal } from '../../lib/output/printer.ts'
import { fileTrouble } from '../../lib/kube/bounded-file.ts'
import { itemsOf, known } from '../../lib/kube/known.ts'
import { readClusterUid } from '../../lib/kubevirt/full-snapshot.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { faultRehearsalsView, rehearsalView, unknownTarget } from '../../lib/output/views/rehearsal.ts'
import { type ClusterTwin, readClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import { observePace, type ObservedPace } from '../../lib/rehearsal/observed-pace.ts'
import type { FaultRehearsals, Played, Rehearsal } from '../../lib/rehearsal/rehearsal.ts'
import { faultsNamed, type TwinFault, twinFaults } from '../../lib/rehearsal/twin-faults.ts'
import { parseSpeed } from '../demo/served-cluster.ts'
import { serveTwin } from './serve-twin.ts'
import { notSimulated } from '../../lib/rehearsal/missing-parts.ts'
import { playTwin, type Play, refusedUpgrade } from './play-twin.ts'
import { type JudgedUpgrade, judgeUpgrade } from './rehearsed-findings.ts'
import {
  linesOnFault,
  nextLines,
  readFiles,
  rehearsedUpgrade,
  typedUpgrade,
  type UpgradeFlags,
} from './rehearsed-upgrade.ts'

export interface RehearseOptions extends UpgradeFlags {
  from?: string
  fault: readonly string[]
  /** Names, separated by commas, or `all`: each in a rehearsal of its own. */
  faults?: string
  seed: string
  /** Where the rehearsal is saved, for `kvup upgrade --rehearsal`. */
  toFile?: string
  /** Nothing is played: the twin is there for kvup and kubectl. */
  serve?: boolean
  speed?: string
}

/**
 * `kvup rehearse`: the upgrade, carried out on a twin of the cluster in this process. Exit 0: through, 4: it would stall or time out, 3: it is blocked, stops halfway, or ends
 * degraded. With `--faults` a rehearsal for each fault, and 0 where the upgrade itself goes through without any.
 */
export async function rehearse(cx: Context, options: RehearseOptions): Promise<ExitCode> {
  const typed = typedUpgrade(options)
  const seed = seedOf(options)
  const each = eachOf(options)
  const together = faultsNamed(options.fault)
  const speed = servingSpeed(options)
  const files = await readFiles(cx, options)
  const read = await readerFor(cx, options.from)
  const { cluster, clock } = read
  cx.printer.awaiting('reading the cluster')
  const asItIs = await readClusterTwin(cluster.reader, clock, files)
  const pace = await observePace(cluster.reader, asItIs.shape.namespace ?? 'kubevirt')
  const twin = pace === undefined ? asItIs : pacedAs(asItIs, pace)
  const upgrade = rehearsedUpgrade(twin, typed)
  if (speed !== undefined) return serveTwin(cx, twin, { upgrade, seed, speed })
  const judged = await judgeUpgrade(cx, { read, upgrade, options })
  const asked: Omit<Play, 'faults'> = { twin, upgrade, seed, at: clock.now() }
  const [clusterUid] = itemsOf(await known(readClusterUid(cluster.reader)))
  cx.printer.awaiting('playing the upgrade on the twin')
  const onTwin = await playTwin(cx, { ...asked, faults: together })
  const played = judged.refusal && isBegun(onTwin) ? refusedUpgrade(asked, judged.refusal) : onTwin
  // With a fault it is another upgrade than the one of the cluster.
  const { toFile: _, ...notCompared } = options
  const about = {
    apiVersion: 'kvup.io/v1alpha1',
    ...(cluster.address && { cluster: cluster.address }),
    asOf: asked.at.toISOString(),
    ...(clusterUid !== undefined && { clusterUid }),
    product: upgrade.product,
    from: upgrade.from,
    to: upgrade.to,
    seed,
    twin: twin.counts,
    ...(pace && { pace }),
    findings: judged.findings,
    missing: [...twin.missing, ...notSimulated(twin, { method: played.method, to: upgrade.to })],
    next: [
      ...unknownLines(judged),
      ...nextLines(played, upgrade, together.length > 0 ? notCompared : options),
    ],
  } as const
  if (each === undefined) {
    const faults = together.map(({ name }) => name)
    const document: Rehearsal = {
      ...about,
      kind: 'Rehearsal',
      ...(faults.length > 0 && { faults }),
      ...played,
    }
    if (options.toFile !== undefined) await save(cx, options.toFile, document)
    cx.printer.result(document, rehearsalView)
    return codes[played.outcome]
  }
  const items = isBegun(played) ? await playFaults(cx, asked, each) : []
  cx.printer.result<FaultRehearsals>(
    { ...about, kind: 'FaultRehearsals', without: withoutFault(played), items },
    faultRehearsalsView,
  )
  return codes[played.outcome]
}

async function playFaults(
  cx: Context,
  asked: Omit<Play, 'faults'>,
  faults: readonly TwinFault[],
): Promise<FaultRehearsals['items']> {
  const { twin, upgrade } = asked
  const items: FaultRehearsals['items'][number][] = []
  for (const fault of faults) {
    cx.printer.awaiting(`playing the upgrade with the fault ${fault.name}`)
    const { name, title } = fault
    const item = withoutVms(await playTwin(cx, { ...asked, faults: [fault] }))
    const helps = item.outcome === 'through' ? undefined : fault.helps(twin, upgrade.kubevirt)
    items.push({ fault: name, title, ...item, ...(helps && { helps }), next: linesOnFault(item, upgrade) })
  }
  return items
}

const withoutFault = ({ outcome, tries, upgradeSeconds, why }: Played): FaultRehearsals['without'] => ({
  outcome,
  tries,
  ...(upgradeSeconds !== undefined && { upgradeSeconds }),
  ...(why && { why }),
})

/** A release that nobody made goes through on a twin as well. */
const unknownLines = (judged: JudgedUpgrade): readonly string[] =>
  unknownTarget(judged) === undefined ? [] : ['kvup releases     # lists the releases that kvup knows']

/** It is not refused, and there is something to do. A fault says nothing of any other. */
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

function withoutVms(played: Played): Omit<Played, 'vms' | 'stages'> {
  const { vms: _, stages: __, ...rest } = played
  return rest
}

/** Pulls of the twin take as long as those of the last roll-out: what is over in a second is the twin's own pace. */
const pacedAs = (twin: ClusterTwin, { pullSeconds }: ObservedPace): ClusterTwin =>
  pullSeconds <= 1 ? twin : { ...twin, faults: { ...twin.faults, pullsTake: pullSeconds * 1000 } }

/** Undefined where the twin is not served. Throws `usage` for what serves nothing. */
function servingSpeed({
  serve,
  speed,
  fault,
  faults,
  toFile,
  accept,
  timeout,
}: RehearseOptions): number | undefined {
  if (!serve) {
    if (speed === undefined) return undefined
    throw usageError('contradiction', '--speed is for --serve: a rehearsal is as fast as it can be')
  }
  const playing = [
    ...(fault.length > 0 ? ['--fault'] : []),
    ...(faults === undefined ? [] : ['--faults']),
    ...(toFile === undefined ? [] : ['--to-file']),
    ...(accept.length > 0 ? ['--accept'] : []),
    ...(timeout === undefined ? [] : ['--timeout']),
  ]
  if (playing[0] === undefined) return parseSpeed(speed, 1)
  throw usageError('contradiction', `--serve and ${playing[0]} exclude each other: --serve plays nothing`)
}

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

function eachOf({ faults, fault, toFile }: RehearseOptions): readonly TwinFault[] | undefined {
  if (faults === undefined) return undefined
  if (toFile !== undefined)
    throw usageError(
      'contradiction',
      '--to-file and --faults exclude each other: --to-file saves one rehearsal',
    )
  if (fault.length > 0)
    throw usageError(
      'contradiction',
      '--fault and --faults exclude each other: --fault plays them together, --faults one after the other',
    )
  return faults === 'all' ? twinFaults : faultsNamed(faults.split(','))
}
