import type { Context } from '../../context.ts'
import { type ExitCode, exitCode, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { seal } from '../../lib/output/printer.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { faultRehearsalsView, rehearsalView } from '../../lib/output/views/rehearsal.ts'
import { type ClusterTwin, readClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import { observePace, type ObservedPace } from '../../lib/rehearsal/observed-pace.ts'
import type { FaultRehearsals, Played, Rehearsal } from '../../lib/rehearsal/rehearsal.ts'
import { faultsNamed, type TwinFault, twinFaults } from '../../lib/rehearsal/twin-faults.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import { typedTarget } from '../../lib/upgrade/plan/upgrade-options.ts'
import { withRisks } from '../run-change.ts'
import { parseSpeed } from '../demo/served-cluster.ts'
import { serveTwin } from './serve-twin.ts'
import { playTwin, type Play } from './play-twin.ts'

export interface RehearseOptions {
  to?: string
  method: 'auto' | 'image-tag' | 'operator-manifest'
  from?: string
  fault: readonly string[]
  /** Names, separated by commas, or `all`: each in a rehearsal of its own. */
  faults?: string
  seed: string
  /** As `kvup upgrade` takes them; absent: its defaults. */
  via?: string
  stableFor?: string
  /** Where the rehearsal is saved, for `kvup upgrade --rehearsal`. */
  toFile?: string
  /** Nothing is played: the twin is there for kvup and kubectl. */
  serve?: boolean
  speed?: string
  accept: readonly string[]
}

/**
 * `kvup rehearse`: the upgrade, carried out on a twin of the cluster in this process. Exit 0: through, 4: it would stall, 3: it is blocked. With `--faults` a rehearsal for each fault, and 0 where
 * the upgrade itself goes through without any.
 */
export async function rehearse(cx: Context, options: RehearseOptions): Promise<ExitCode> {
  const to = parseVersion(typedTarget(options)).text
  const seed = seedOf(options)
  const each = eachOf(options)
  const together = faultsNamed(options.fault)
  const speed = servingSpeed(options)
  const { cluster, clock } = await readerFor(cx, options.from)
  cx.printer.awaiting('reading the cluster')
  const read = await readClusterTwin(cluster.reader, clock)
  const pace = await observePace(cluster.reader, read.shape.namespace ?? 'kubevirt')
  const twin = pace === undefined ? read : pacedAs(read, pace)
  if (speed !== undefined) return serveTwin(cx, twin, { to, seed, speed })
  const { method, accept } = options
  const asked: Omit<Play, 'faults'> = {
    twin,
    to,
    seed,
    method,
    accept,
    flags: flagsOf(options),
    at: clock.now(),
  }
  const about = {
    apiVersion: 'kvup.io/v1alpha1',
    from: twin.shape.version ?? '',
    to,
    seed,
    twin: twin.counts,
    ...(pace && { pace }),
  } as const
  cx.printer.awaiting('playing the upgrade on the twin')
  const played = await playTwin(cx, { ...asked, faults: together })
  const next = nextLines(played, to, options)
  if (each === undefined) {
    const faults = together.map(({ name }) => name)
    const document: Rehearsal = {
      ...about,
      kind: 'Rehearsal',
      ...(faults.length > 0 && { faults }),
      ...played,
      missing: twin.missing,
      next,
    }
    if (options.toFile !== undefined) await save(cx, options.toFile, document)
    cx.printer.result(document, rehearsalView)
    return codes[played.outcome]
  }
  const items: FaultRehearsals['items'][number][] = []
  // None of it says anything of an upgrade that is not even begun.
  for (const fault of played.outcome === 'blocked' ? [] : each) {
    cx.printer.awaiting(`playing the upgrade with the fault ${fault.name}`)
    const { name, title } = fault
    items.push({ fault: name, title, ...withoutVms(await playTwin(cx, { ...asked, faults: [fault] })) })
  }
  const { outcome, why, upgradeSeconds } = played
  const without = {
    outcome,
    ...(upgradeSeconds !== undefined && { upgradeSeconds }),
    ...(why && { why }),
  }
  cx.printer.result<FaultRehearsals>(
    { ...about, kind: 'FaultRehearsals', without, items, missing: twin.missing, next },
    faultRehearsalsView,
  )
  return codes[played.outcome]
}

/** Writes what `-o json` prints. Throws `usage` for a file that cannot be written. */
async function save({ world }: Context, file: string, document: Rehearsal): Promise<void> {
  const text = `${JSON.stringify(seal(document, 'complete'), undefined, 2)}\n`
  await world.writeText(file, text).catch((cause: unknown) => {
    throw usageError(
      'rehearsal-not-saved',
      `the rehearsal cannot be written to ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
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
function servingSpeed({ serve, speed, fault, faults, toFile, accept }: RehearseOptions): number | undefined {
  if (!serve) {
    if (speed === undefined) return undefined
    throw usageError('contradiction', '--speed is for --serve: a rehearsal is as fast as it can be')
  }
  const playing = [
    ...(fault.length > 0 ? ['--fault'] : []),
    ...(faults === undefined ? [] : ['--faults']),
    ...(toFile === undefined ? [] : ['--to-file']),
    ...(accept.length > 0 ? ['--accept'] : []),
  ]
  if (playing[0] === undefined) return parseSpeed(speed, 1)
  throw usageError('contradiction', `--serve and ${playing[0]} exclude each other: --serve plays nothing`)
}

/** What goes on to the upgrade as it was typed. */
const flagsOf = ({ via, stableFor }: RehearseOptions): readonly string[] => [
  ...(via === undefined ? [] : ['--via', via]),
  ...(stableFor === undefined ? [] : ['--stable-for', stableFor]),
]

const codes = { through: exitCode.done, stalls: exitCode.timedOut, blocked: exitCode.blocked } as const

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

/** What can be looked at in the cluster now. Pods of the twin are not there. */
function nextLines({ outcome, why }: Played, to: string, options: RehearseOptions): string[] {
  const { accept, from, toFile, method } = options
  const accepting = (line: string, more: readonly string[] = []) =>
    withRisks(
      line,
      [...accept, ...more].map((id) => ({ id })),
    )
  const line = (command: string, flags: readonly string[]) =>
    ['kvup', command, '--to', to, ...flags.map(shellWord)].join(' ')
  const how = [...(method === 'auto' ? [] : ['--method', method]), ...flagsOf(options)]
  const saved = from === undefined ? [] : ['--from', from]
  const compared = toFile === undefined ? [] : ['--rehearsal', toFile]
  if (outcome === 'through')
    return [`${accepting(line('upgrade', [...how, ...compared]))}     # does it in the cluster`]
  const risks = risksIn(why?.remedy ?? [])
  const check = line('check', saved)
  if (outcome === 'blocked' && risks.length > 0)
    return [
      `${check}     # says what the risk is`,
      `${accepting(line('rehearse', [...how, ...saved]), risks)}     # plays it with the risk accepted`,
    ]
  return [`${check}     # says what can be seen beforehand`]
}

/** Names that a line accepts which the upgrade offers. */
const risksIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.startsWith('kvup upgrade '))
    .flatMap((line) =>
      [...line.matchAll(/ --accept (?<risk>[a-z0-9-]+)/gu)].map(({ groups }) => groups?.['risk'] ?? ''),
    )
