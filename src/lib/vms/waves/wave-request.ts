import type { Order, WaveBy, WaveRunWanted } from './waves.ts'
import { parseLabels } from '../../kube/object.ts'
import { parseDuration } from '../../kube/duration.ts'
import { usageError } from '../../kube/errors.ts'
import { nextOpening, parseWindow } from './time-windows.ts'
import { selectionOf } from '../vm-selection.ts'
import type { UpdateWanted } from './update-run.ts'
import type { ChangeOptions } from '../../engine/change.ts'

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
