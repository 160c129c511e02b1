import { parseDuration } from '../../lib/kube/duration.ts'
import { harmsOf } from '../../lib/engine/change.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import type { ClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import type { Played } from '../../lib/rehearsal/rehearsal.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { parseVersion, type Version, versionOf } from '../../lib/releases/release-versions.ts'
import { candidatesIn, hop, releasesLeft } from '../../lib/releases/release-path.ts'
import { knownReleases } from '../../lib/releases/releases.ts'
import { typedTarget } from '../../lib/upgrade/plan/upgrade-options.ts'
import { withRisks } from '../run-change.ts'

/** How a twin is upgraded. */
type TwinMethod = Extract<Method, 'image-tag' | 'operator-manifest'>

/** Which upgrade is rehearsed: what goes on to it as it was typed. */
export interface UpgradeFlags {
  to?: string
  method: 'auto' | TwinMethod
  /** As `kvup upgrade` takes them; absent: its defaults. */
  via?: string
  stableFor?: string
  timeout?: string
  leavePaused?: boolean
  accept: readonly string[]
}

/** As it is typed, with its value where it has one. */
type Flag = readonly [name: string] | readonly [name: string, value: string]

/** What would be typed on the cluster after `kvup upgrade`. */
export interface TypedUpgrade {
  to: string
  method: 'auto' | TwinMethod
  flags: readonly Flag[]
  accept: readonly string[]
}

/** Throws `usage` for what cannot be meant, before the cluster is read. */
export function typedUpgrade(options: UpgradeFlags): TypedUpgrade {
  const { method, accept, timeout } = options
  if (timeout !== undefined) parseDuration(timeout)
  return { to: typedTarget(options), method, flags: flagsOf(options), accept }
}

const flagsOf = (options: UpgradeFlags): readonly Flag[] => [
  ...flag('--via', options.via),
  ...flag('--stable-for', options.stableFor),
  ...flag('--timeout', options.timeout),
  ...(options.leavePaused ? [leavePaused] : []),
]

const leavePaused: Flag = ['--leave-paused']

const flag = (name: string, value: string | undefined): readonly Flag[] =>
  value === undefined ? [] : [[name, value]]

/** The upgrade of this cluster. */
export interface RehearsedUpgrade extends TypedUpgrade {
  from: string
  /** What its first step installs: over several minors not `to`. What kvup finds in the cluster now is found about this. */
  first: string
}

/** Throws `usage` for releases in between that do not follow on what is installed. */
export function rehearsedUpgrade({ shape }: ClusterTwin, typed: TypedUpgrade): RehearsedUpgrade {
  const { version: from = '' } = shape
  const to = parseVersion(typed.to)
  return { ...typed, from, to: to.text, first: firstStep(from, to, valueOf(typed.flags, '--via')).text }
}

/** As `kvup upgrade` chooses it where there are no manifests to choose by. Throws `usage` for releases in between that do not follow on what is installed. */
function firstStep(installed: string, to: Version, via: string | undefined): Version {
  const from = versionOf(installed)
  if (from === undefined) return to
  if (via !== undefined) return releasesLeft({ from, to, via: via.split(',').map(parseVersion) })[0] ?? to
  const [minor] = hop(from, to).skipped ?? []
  return (minor === undefined ? undefined : candidatesIn(minor, from, knownReleases)[0]) ?? to
}

const valueOf = (flags: readonly Flag[], wanted: string): string | undefined =>
  flags.find(([name]) => name === wanted)?.[1]

function replaced(flags: readonly Flag[], name: string, value: string): readonly Flag[] {
  const place = flags.findIndex((one) => one[0] === name)
  return place < 0 ? [...flags, [name, value]] : flags.with(place, [name, value])
}

const lineOf = (command: string, to: string, flags: readonly Flag[]): string =>
  ['kvup', command, '--to', shellWord(to), ...flags.flat().map(shellWord)].join(' ')

/** Where what was read and what was played is kept, and how it is played again. */
interface Kept {
  /** A saved cluster. */
  from?: string
  /** The rehearsal that is saved. */
  toFile?: string
  seed?: string
}

/** The line that carries the upgrade out in the cluster. */
export function upgradeLine(upgrade: RehearsedUpgrade, { toFile }: Kept = {}): string {
  const { to, method, flags, accept } = upgrade
  const more = [...methodFlag(method), ...flags, ...flag('--rehearsal', toFile)]
  return accepting(lineOf('upgrade', to, more), accept)
}

/** The line that says what kvup finds in the cluster about the first step. */
export const explainingLine = ({ method, first }: RehearsedUpgrade, kept: Pick<Kept, 'from'>): string =>
  lineOf('check', first, [...methodFlag(method), ...flag('--from', kept.from)])

/** The line that says what an upgrade does where there is no twin for it. */
export const planningLine = ({ to }: Pick<TypedUpgrade, 'to'>, kept: Pick<Kept, 'from'>): string =>
  `${lineOf('plan', to, flag('--from', kept.from))}     says what the upgrade does, and what blocks it`

const methodFlag = (method: TypedUpgrade['method']): readonly Flag[] =>
  method === 'auto' ? [] : [['--method', method]]

/** What can be looked at in the cluster now. Pods of the twin are not there. */
export function nextLines(played: Played, upgrade: RehearsedUpgrade, kept: Kept): string[] {
  const { outcome, why, stages } = played
  if (outcome === 'through' && stages.length === 0) return []
  if (outcome === 'through') return [inCluster(upgrade, 'does it in the cluster', kept)]
  const explaining = explainingLine(upgrade, kept)
  if (outcome === 'timed-out') {
    const flags = replaced(upgrade.flags, '--timeout', twiceOf(played))
    return [
      `${rehearseLine({ ...upgrade, flags }, kept)}     # plays it with more time`,
      `${explaining}     # says what can be seen beforehand`,
    ]
  }
  if (outcome === 'blocked') return blockedLines(why?.remedy ?? [], upgrade, kept)
  return [`${explaining}     # says what can be seen beforehand`]
}

/** By what the upgrade was refused with: its risks are explained, and can be gone round or accepted on the twin. */
function blockedLines(remedy: readonly string[], upgrade: RehearsedUpgrade, kept: Kept): string[] {
  const explaining = explainingLine(upgrade, kept)
  const risks = risksIn(remedy)
  // What a later step of a path is blocked by, a check of the first one may not find.
  const [first] = upgrade.first === upgrade.to ? [] : risks
  if (risks.length === 0) return [`${explaining}     # says what can be seen beforehand`]
  const { flags, accept } = upgrade
  // Over several minors VM updates resume between two steps.
  const isPausable =
    first === undefined &&
    !flags.includes(leavePaused) &&
    remedy.some((line) => line.includes(' --leave-paused '))
  const paused = { ...upgrade, flags: [...flags, leavePaused] }
  const accepted = { ...upgrade, accept: [...accept, ...risks] }
  return [
    `${first === undefined ? explaining : `kvup explain ${shellWord(first)}`}     # says what the risk is`,
    ...(isPausable ? [`${rehearseLine(paused, kept)}     # plays it with VM updates left paused`] : []),
    `${rehearseLine(accepted, kept)}     # plays it with the risk accepted`,
  ]
}

/** The upgrade itself, with the harm that it does. */
function inCluster(upgrade: RehearsedUpgrade, does: string, kept?: Kept): string {
  const line = upgradeLine(upgrade, kept)
  return `${line}     # ${does}${harmsOf(line)}`
}

function rehearseLine({ to, method, flags, accept }: RehearsedUpgrade, kept: Kept): string {
  const how: readonly Flag[] = [
    ...methodFlag(method),
    ...flags,
    ...flag('--from', kept.from),
    ...flag('--seed', kept.seed === '1' ? undefined : kept.seed),
    ...flag('--to-file', kept.toFile),
  ]
  return accepting(lineOf('rehearse', to, how), accept)
}

/** In whole hours: twice of what it had. */
const twiceOf = ({ upgradeSeconds = 0 }: Played): string => `${Math.ceil((2 * upgradeSeconds) / 3600)}h`

const accepting = (line: string, risks: readonly string[]): string =>
  withRisks(
    line,
    risks.map((id) => ({ id })),
  )

/** Names that a line accepts which the upgrade offers. */
const risksIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.startsWith('kvup upgrade '))
    .flatMap((line) =>
      [...line.matchAll(/ --accept (?<risk>[a-z0-9-]+)/gu)].map(({ groups }) => groups?.['risk'] ?? ''),
    )
