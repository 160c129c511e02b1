import { Option } from 'commander'
import { type Order, orders, type Wave, type WaveBy, type WaveRunWanted } from '../../lib/vms/waves/waves.ts'
import { parseLabels } from '../../lib/kube/object.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { usageError } from '../../lib/kube/errors.ts'
import { nextOpening, parseWindow } from '../../lib/vms/waves/time-windows.ts'
import { selectionOf } from '../../lib/vms/vm-selection.ts'
import type { UpdateWanted } from '../../lib/vms/waves/update-run.ts'
import type { Access } from '../../lib/kube/cluster.ts'
import type { Rights } from '../../lib/engine/change.ts'
import { placeOfVm } from '../../lib/vms/vm.ts'
import type { Used } from '../../lib/upgrade/roles.ts'
import { restartable } from '../../lib/vms/waves/vm-restart.ts'
import type { Context } from '../../context.ts'
import { nearest } from '../../lib/kube/text.ts'
import type { WaveRunDocument } from '../../lib/output/views/vms/wave-run.ts'
import type { RunOutcome } from '../../lib/engine/step.ts'
import { goesOn } from '../../lib/engine/resume-hint.ts'
import type { ChangeOptions } from '../change-options.ts'

/** Which VMs: all namespaces unless `-n` says otherwise. */
export const selectionFlags = (): Option[] => [
  new Option('-A, --all-namespaces', 'all namespaces; that is the default without -n'),
  new Option('-l, --selector <labels>', 'only VMs with these labels, such as app=db,tier!=test'),
]

/** In which order. `whenItFails`: what does not happen any more when the canary fails. */
export const waveFlags = (whenItFails: string): Option[] => [
  new Option('--canary <count>', `so many VMs first; when one fails ${whenItFails}`),
  new Option('--canary-label <labels>', 'the VMs with these labels first, in the same way'),
  new Option('--wave-by <what>', 'label=KEY, namespace or node: one wave after the other'),
  new Option('--waves <list>', 'the waves that come first, in this order, separated by commas'),
  new Option('--order <order>', 'which VM of a wave comes first').choices(orders).default('name'),
]

/** Where to end, by the ids that a dry run shows: `canary`, `wave-VALUE`. */
export const stopFlags = (): Option[] => [
  new Option('--until <wave>', 'end after this wave, such as canary'),
  new Option('--pause-before <wave>', 'stop before this wave (repeatable)')
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], 'none'),
]

/** How fast, and when. `doing`: what happens in a window, such as `begin VMs`. */
export const paceFlags = (doing: string): Option[] => [
  new Option('--pause-between <duration>', 'how long to wait between two waves').default('0s'),
  new Option('--apart-by <label>', 'never two VMs of one value at a time; default: their own anti-affinity'),
  new Option(
    '--soak <duration>',
    'how long the one has to be well before the next that is kept apart',
  ).default('1m'),
  new Option('--window <window>', `${doing} only then (repeatable)`)
    .argParser((value: string, before: string[]) => [...before, value])
    .default([], 'always'),
]

/** The flags that `kvup workloads update` and `kvup rollout restart` share. */
export interface WaveRunOptions extends ChangeOptions {
  allNamespaces?: boolean
  selector?: string
  node?: string
  canary?: string
  canaryLabel?: string
  waveBy?: string
  waves?: string
  order: Order
  parallel?: string
  maxFailures: string
  pauseBetween: string
  apartBy?: string
  soak: string
  window: string[]
  until?: string
  pauseBefore: string[]
  restartTimeout: string
}

/** What was typed, judged before the cluster is read. */
interface TypedWaveRun {
  wanted: WaveRunWanted
  timeoutMs: number
}

/** Throws `usage`. */
export function typedWaveRun(options: WaveRunOptions, namespace: string | undefined): TypedWaveRun {
  const timeoutMs = parseDuration(options.timeout)
  const waveBy = waveByOf(options.waveBy)
  const { canary, canaries } = canaryOf(options)
  return {
    timeoutMs,
    wanted: {
      selection: selectionOf(options, namespace),
      waves: { order: options.order, first: firstWaves(options, waveBy), canaries },
      waveBy,
      ...(canary && { canary }),
      ...(options.apartBy !== undefined && { apartBy: labelKey(options.apartBy, '--apart-by') }),
      maxFailures: countOf(options.maxFailures, '--max-failures', 1),
      pacing: pacingOf(options),
      backWithin: parseDuration(options.restartTimeout),
    },
  }
}

function pacingOf(options: WaveRunOptions): WaveRunWanted['pacing'] {
  const { parallel, pauseBetween, soak, window } = options
  return {
    parallel: parallel === undefined ? Infinity : countOf(parallel, '--parallel', 1),
    pause: parseDuration(pauseBetween),
    soak: parseDuration(soak),
    windows: window.map(parseWindow),
  }
}

function firstWaves({ waves }: WaveRunOptions, waveBy: WaveBy): readonly string[] {
  if (waves === undefined) return []
  if (waveBy.is !== 'one') return waves.split(',').map((one) => one.trim())
  throw usageError('contradiction', '--waves orders waves, and without --wave-by there is only one', {
    remedy: '--wave-by label=KEY --waves A,B',
  })
}

/** A window that opens after the run is over never opens for it: throws `usage`. `now` is the cluster's, which has answered by then. */
export function ensureWindowOpens({ wanted, timeoutMs }: TypedWaveRun, now: Date): void {
  const opens = nextOpening(wanted.pacing.windows, now.getTime())
  if (opens !== undefined && opens < now.getTime() + timeoutMs) return
  const when = opens === undefined ? '' : `: the next one opens at ${new Date(opens).toISOString()}`
  throw usageError('window-never-opens', `no window opens before the time is over${when}`, {
    remedy: '--timeout 7d waits that long',
  })
}

function canaryOf({ canary, canaryLabel }: WaveRunOptions): {
  canary?: ReturnType<typeof parseLabels>
  canaries: number
} {
  if (canary !== undefined && canaryLabel !== undefined)
    throw usageError('contradiction', '--canary and --canary-label exclude each other')
  if (canaryLabel === undefined)
    return { canaries: canary === undefined ? 0 : countOf(canary, '--canary', 1) }
  if (canaryLabel.trim() === '') throw notLabels('--canary-label is empty: it would be all VMs')
  return { canary: parseLabels(canaryLabel, notLabels), canaries: 0 }
}

const notLabels = (why: string) => usageError('label-selector', why, { remedy: '--canary-label tier=test' })

function waveByOf(typed: string | undefined): WaveBy {
  if (typed === undefined) return { is: 'one' }
  if (typed === 'namespace' || typed === 'node') return { is: typed }
  if (typed.startsWith('label='))
    return { is: 'label', key: labelKey(typed.slice('label='.length), '--wave-by label=') }
  throw usageError('wave-by', `--wave-by takes label=KEY, namespace or node, not ${JSON.stringify(typed)}`, {
    remedy: '--wave-by label=tier',
  })
}

function labelKey(typed: string, flag: string): string {
  if (/^([a-z0-9.-]+\/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$/u.test(typed)) return typed
  throw usageError('label-key', `${flag} takes the key of a label, not ${JSON.stringify(typed)}`)
}

/** A whole number. Throws `usage`. */
function countOf(typed: string, flag: string, least: number): number {
  const count = Number(typed)
  if (/^\d+$/u.test(typed) && count >= least && count < 2 ** 31) return count
  throw usageError('not-a-count', `${flag} takes a whole number from ${least}, not ${JSON.stringify(typed)}`)
}

export interface UpdateOptions extends WaveRunOptions {
  retries: string
  restartUnmigratable?: boolean
  stallTimeout: string
  watchOnly?: boolean
  cancelRunning?: boolean
}

/** What was typed, judged before the cluster is read. */
export interface TypedUpdate extends TypedWaveRun {
  wanted: UpdateWanted
}

/** Kept migrations are five: of more failures the cluster does not tell (facts 3.3). */
const retriesAtMost = 4

/** Throws `usage`. */
export function typedUpdate(options: UpdateOptions, namespace: string | undefined): TypedUpdate {
  const { wanted, timeoutMs } = typedWaveRun(options, namespace)
  return {
    timeoutMs,
    wanted: {
      ...wanted,
      restart: options.restartUnmigratable === true,
      retries: retriesOf(options),
      stillAtMost: parseDuration(options.stallTimeout),
    },
  }
}

function retriesOf({ retries }: UpdateOptions): number {
  const count = countOf(retries, '--retries', 0)
  if (count <= retriesAtMost) return count
  throw usageError(
    'too-many-retries',
    `--retries is at most ${retriesAtMost}: KubeVirt keeps five migrations of a VM`,
  )
}

/** What is in the namespaces of VMs. */
const ofVms: ReadonlySet<string> = new Set([
  'virtualmachines',
  'virtualmachineinstances',
  'virtualmachineinstancemigrations',
  'pods',
])

/** The same rights, asked for in these namespaces only: who may move the VMs of one need not be allowed to move all. Undefined: in all. */
export function narrowed(rights: Rights, namespaces: readonly string[] | undefined): Rights {
  if (namespaces === undefined) return rights
  const within = (access: Access): Access[] =>
    access.namespace === undefined && ofVms.has(access.resource)
      ? namespaces.map((namespace) => ({ ...access, namespace }))
      : [access]
  return { ...rights, required: rights.required.flatMap(within) }
}

/** Where the VMs of a run are; undefined: it may be all namespaces. */
export function namespacesOf(
  vms: Iterable<string>,
  { namespace, partly }: { namespace: string | undefined; partly: boolean },
): readonly string[] | undefined {
  if (namespace !== undefined) return [namespace]
  if (!partly) return undefined
  return [...new Set([...vms].map((vm) => placeOfVm(vm).namespace))]
}

/** To ask virt-api for the restart of a VM. */
export const restartRight: Used = { kind: restartable, verb: 'update', subresource: 'restart' }

/** `--waves` may name what is done already, so that the same line goes on: told, and not refused. */
export function warnOfWaves(
  { printer }: Pick<Context, 'printer'>,
  { waves: { first } }: Pick<WaveRunWanted, 'waves'>,
  waves: readonly Wave[],
): void {
  const there = waves.flatMap(({ value }) => value ?? [])
  const without = first.filter((name) => !there.includes(name))
  if (without.length === 0 || waves.length === 0) return
  const others = there.filter((name) => !first.includes(name))
  const meant = without.map((name) => ({ name, near: nearest(name, others) }))
  const words = meant.map(({ name, near }) => (near === undefined ? name : `${name} (did you mean ${near}?)`))
  printer.warn(`no VM that is left is in these waves of --waves: ${words.join(', ')}`)
}

/** How a run of waves ended, in the fields of its document. */
type RunEnd = Pick<WaveRunDocument, 'outcome' | 'stoppedBefore' | 'next'>

/** `borrowed`: commands that give back what is held meanwhile. */
export function endOfRun({ world }: Context, outcome: RunOutcome, borrowed: readonly string[]): RunEnd {
  if (outcome.is === 'nothing-to-do') return { outcome: 'nothing-to-do' }
  if (outcome.is === 'finished') return { outcome: 'done' }
  const { step, because } = outcome
  return {
    outcome: 'stopped',
    stoppedBefore: { step: step.id, because: `--${because}` },
    next: [goesOn(world.commandLine), ...borrowed],
  }
}
