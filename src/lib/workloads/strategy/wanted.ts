import { parseDuration } from '../../system/duration.ts'
import { usageError } from '../../system/errors.ts'
import { toGoDuration } from '../../system/go-duration.ts'
import { nearest } from '../../system/nearest.ts'
import { quantity } from '../../system/quantity.ts'
import { seconds } from '../../system/units.ts'
import type { SettingValue } from './settings.ts'

/** The only ones that there are (facts 1.2); the schema takes any word and KubeVirt ignores what it does not know. */
const methods = ['LiveMigrate', 'Evict'] as const

/** What was typed for `strategy set`. */
export interface TypedSettings {
  methods?: string
  batchSize?: string
  batchInterval?: string
  parallelPerCluster?: string
  parallelPerNode?: string
  bandwidth?: string
  completionTimeout?: string
  progressTimeout?: string
  migrationNetwork?: string
}

/** Field to value; null takes it out. */
export type Wanted = Readonly<Record<string, SettingValue>>

type Parse = (typed: string, flag: string) => SettingValue

const parsers: Readonly<Record<keyof TypedSettings, readonly [field: string, flag: string, parse: Parse]>> = {
  methods: ['workloadUpdateMethods', '--methods', parseMethods],
  batchSize: ['batchEvictionSize', '--batch-size', parseCount],
  batchInterval: [
    'batchEvictionInterval',
    '--batch-interval',
    (typed, flag) => toGoDuration(positive(typed, flag)),
  ],
  parallelPerCluster: ['parallelMigrationsPerCluster', '--parallel-per-cluster', parseCount],
  parallelPerNode: ['parallelOutboundMigrationsPerNode', '--parallel-per-node', parseCount],
  bandwidth: ['bandwidthPerMigration', '--bandwidth', parseBandwidth],
  completionTimeout: ['completionTimeoutPerGiB', '--completion-timeout', wholeSeconds],
  progressTimeout: ['progressTimeout', '--progress-timeout', wholeSeconds],
  migrationNetwork: [
    'network',
    '--migration-network',
    (typed) => (typed === 'none' ? null : networkName(typed)),
  ],
}

/** Throws `usage` for what cannot be meant, and where nothing was asked for. */
export function parseWanted(typed: TypedSettings): Wanted {
  const wanted = Object.entries(parsers).flatMap(([key, [field, flag, parse]]) => {
    const text = typed[key as keyof TypedSettings]
    return text === undefined ? [] : [[field, parse(text.trim(), flag)] as const]
  })
  if (wanted.length > 0) return Object.fromEntries(wanted)
  throw usageError('nothing-to-set', 'it was not said what to set', {
    remedy: [
      'kvup workloads strategy set --methods LiveMigrate',
      'kvup workloads strategy show     shows what holds now',
    ],
  })
}

function parseMethods(typed: string): readonly string[] {
  if (typed === 'none') return []
  const words = typed.split(',').map((word) => word.trim())
  for (const word of words) refuseUnknown(word)
  const twice = words.find((word, index) => words.indexOf(word) !== index)
  if (twice === undefined) return words
  throw usageError('method-twice', `--methods names ${twice} twice`)
}

function refuseUnknown(word: string): void {
  if ((methods as readonly string[]).includes(word)) return
  const meant = meantBy(word)
  throw usageError('no-such-method', `${JSON.stringify(word)} is no workload update method`, {
    remedy:
      meant === undefined
        ? `${methods.join(', ')}, both separated by a comma, or none`
        : `did you mean ${meant}?`,
  })
}

/** Case and endings are what is mistaken most: `livemigrate`, `LiveMigration`. */
function meantBy(word: string): string | undefined {
  const small = word.toLowerCase()
  const near = nearest(small, [...methods.map((method) => method.toLowerCase()), 'livemigration', 'eviction'])
  return methods.find((method) => near?.startsWith(method.toLowerCase().slice(0, 4)))
}

function parseCount(typed: string, flag: string): number {
  const count = Number(typed)
  if (/^\d+$/u.test(typed) && count > 0 && Number.isSafeInteger(count) && count < 2 ** 31) return count
  throw usageError('not-a-count', `${flag} takes a whole number from 1, not ${JSON.stringify(typed)}`)
}

function positive(typed: string, flag: string): number {
  const ms = parseDuration(typed)
  if (ms > 0) return ms
  throw usageError('not-positive', `${flag} has to be longer than ${typed}`)
}

function wholeSeconds(typed: string, flag: string): number {
  const ms = positive(typed, flag)
  if (ms % seconds === 0) return ms / seconds
  throw usageError('not-seconds', `${flag} is kept in whole seconds, and ${typed} is not`)
}

/** Bytes a second; a bare number would be a handful of bytes. `0` is no limit. */
function parseBandwidth(typed: string, flag: string): string {
  if (typed === '0') return '0Mi'
  const bytes = quantity(typed)
  if (bytes !== undefined && bytes >= 1 && !/^[\d.]+$/u.test(typed)) return typed
  throw usageError(
    'not-a-bandwidth',
    `${flag} is written like 64Mi or 1Gi, bytes a second, not ${JSON.stringify(typed)}`,
    { remedy: `${flag} 64Mi, or 0 for no limit` },
  )
}

function networkName(typed: string): string {
  if (/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u.test(typed)) return typed
  throw usageError(
    'not-a-network',
    `--migration-network takes the name of a NetworkAttachmentDefinition, or none, not ${JSON.stringify(typed)}`,
  )
}
