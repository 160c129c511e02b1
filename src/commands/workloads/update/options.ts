import { parseDuration } from '../../../lib/system/duration.ts'
import { usageError } from '../../../lib/system/errors.ts'
import type { UpdateWanted } from '../../../lib/workloads/update/wanted.ts'
import { countOf, type TypedWaveRun, typedWaveRun, type WaveRunOptions } from '../../waves/wave-options.ts'

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
