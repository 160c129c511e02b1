import type { Context } from '../../context.ts'
import { KvupError, usageError } from '../../lib/kube/errors.ts'
import { commandOf, withoutFlags, withPurpose, wordsOf } from '../../lib/kube/shell-line.ts'
import type { Choice } from '../../lib/kube/world.ts'
import { type ReadCluster, readerFor } from '../../lib/kubevirt/snapshot.ts'
import { rolloutNow } from '../../lib/kubevirt/rollout-status.ts'
import {
  type AvailableTargetsDocument,
  availableTargetsView,
} from '../../lib/output/views/upgrade/available-targets.ts'
import type { ClusterState } from '../../lib/status/cluster-state.ts'
import {
  type AvailableTarget,
  availableTargets,
  type AvailableTargets,
} from '../../lib/upgrade/plan/available-targets.ts'
import type { UpgradeOptions } from '../../lib/upgrade/plan/upgrade-options.ts'
import { readClusterState } from '../status/status-document.ts'

/** An upgrade that a person chose, as if the line had named it. */
interface Chosen {
  options: UpgradeOptions
  commandLine: string
}

/**
 * `kvup upgrade` without `--to`. An upgrade that has begun comes first: a person may say that it is to be finished. Otherwise what can be reached is listed, and a person chooses from it.
 * Undefined where nothing was chosen, and where the list is for a program. Throws `no-target` (exit 2) with the same lines where nobody is at a terminal, or `--yes` was given: a script whose
 * variable is empty must not succeed.
 */
export async function chosenTarget(cx: Context, typed: UpgradeOptions): Promise<Chosen | undefined> {
  const snapshot = await readerFor(cx, undefined)
  const { state, targets } = await read(cx, typed, snapshot)
  const document = documentOf(state, targets)
  if (!cx.prompt.isAttended) throw refusal(document, targets?.asks ?? {}, cx.world.commandLine)
  cx.printer.result(document, availableTargetsView)
  // One document per command: that of an upgrade would be the second one.
  if (!isScreen.has(cx.flags.output)) return undefined
  const asks = state.upgrade ? await toFinish(cx, state) : targets && (await toReach(cx, targets))
  return asks && { options: { ...typed, ...asks }, commandLine: withTarget(cx.world.commandLine, asks) }
}

const isScreen: ReadonlySet<string> = new Set(['table', 'wide'])

type Asked = Partial<UpgradeOptions> & { to: string }

async function toFinish({ prompt }: Context, { upgrade, is }: ClusterState): Promise<Asked | undefined> {
  if (upgrade === undefined || is === 'Running') return undefined
  const isWanted = await prompt.decide?.(`Finish the upgrade to ${upgrade.to} now?`)
  if (isWanted !== true) return undefined
  return { to: upgrade.to, ...(upgrade.method && { method: upgrade.method }) }
}

const leaveIt: Choice = { value: 'none', name: 'none: change nothing' }

/** The recommended one first; where none is, nothing happens unless a person moves on. */
async function toReach(
  { prompt }: Context,
  { stands, targets, asks }: AvailableTargets,
): Promise<Asked | undefined> {
  if (targets.length === 0) return undefined
  const best = targets.filter(({ isRecommended }) => isRecommended).map(choiceOf)
  const others = targets.filter(({ isRecommended }) => !isRecommended).map(choiceOf)
  const choices = best.length > 0 ? [...best, ...others, leaveIt] : [leaveIt, ...others]
  const to = await prompt.chooseOne?.(`Upgrade ${stands} to which release?`, choices)
  return to === undefined || to === leaveIt.value ? undefined : { to, ...asks }
}

const choiceOf = ({ version, isRecommended, note }: AvailableTarget): Choice => ({
  value: version,
  name: isRecommended ? `${version} (recommended)` : note === undefined ? version : `${version}: ${note}`,
})

/** The line that was typed, with what was chosen: this is what continues after an interruption. */
function withTarget(typed: string, { to, method, follow }: Asked): string {
  const words = wordsOf(typed)
  const left = withoutFlags(words, { valued: method === undefined ? [] : ['--method'] })
  return [
    ...left,
    `--to ${to}`,
    ...(method === undefined ? [] : [`--method ${method}`]),
    ...(follow === true && !words.includes('--follow') ? ['--follow'] : []),
  ].join(' ')
}

async function read(cx: Context, typed: UpgradeOptions, snapshot: ReadCluster) {
  try {
    const { state } = await readClusterState(cx, snapshot)
    const { reader } = snapshot.cluster
    if (state.upgrade !== undefined || state.is === 'NotInstalled') return { state }
    const rollout = await rolloutNow(reader, snapshot.clock)
    return { state, targets: await availableTargets({ reader, ...rollout, world: cx.world, typed }) }
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    throw usageError(
      'no-target',
      `name a version with --to; kvup could not read which ones are available: ${error.message}`,
      {
        remedy:
          error.remedy.length > 0
            ? error.remedy
            : 'kvup releases     lists the releases that this kvup knows',
      },
    )
  }
}

function documentOf(state: ClusterState, targets: AvailableTargets | undefined): AvailableTargetsDocument {
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'AvailableTargets',
    state: withoutThisCommand(state),
    ...(targets && {
      stands: targets.stands,
      source: targets.source,
      items: targets.targets,
      ...(targets.none !== undefined && { none: targets.none }),
      ...(targets.more.length > 0 && { commands: targets.more }),
    }),
  }
}

/** What is running is no line to type. */
function withoutThisCommand(state: ClusterState): ClusterState {
  const { next = '', ...rest } = state
  return /^kvup upgrade(?: {2}|$)/u.test(next) ? rest : state
}

function refusal(
  document: AvailableTargetsDocument,
  asks: AvailableTargets['asks'],
  typed: string,
): KvupError {
  const { state, stands } = document
  const { upgrade, headline, why, next } = state
  if (upgrade && state.is !== 'Running') return unfinished(state, upgrade)
  if (state.is === 'Running' || stands === undefined)
    return usageError('no-target', headline, { notes: why, remedy: next === undefined ? [] : [next] })
  return toBeNamed(document, { stands, asks, typed })
}

/** The line that continues has the flags of the run, where they are known. */
function unfinished(
  { headline, why, next, afterwards }: ClusterState,
  upgrade: NonNullable<ClusterState['upgrade']>,
): KvupError {
  const from = upgrade.from === undefined ? '' : `from ${upgrade.from} `
  const continues = `kvup upgrade --to ${upgrade.to}`
  const flagged = afterwards?.startsWith(`${continues} `) ? commandOf(afterwards) : undefined
  return usageError('no-target', `an upgrade ${from}to ${upgrade.to} is not finished: continue it first`, {
    notes: [headline, ...why],
    remedy: next?.startsWith(`${continues} `) ? next : `${flagged ?? continues}     continues`,
  })
}

interface Naming {
  stands: string
  asks: AvailableTargets['asks']
  typed: string
}

function toBeNamed(document: AvailableTargetsDocument, { stands, asks, typed }: Naming): KvupError {
  const { state, items = [], commands = [] } = document
  return usageError('no-target', `--to is missing; ${whatThereIs(document, stands, asks)}`, {
    notes: [state.is === 'Healthy' ? `${stands} is healthy` : state.headline],
    remedy: [
      ...items.map(({ next: line, note }) => {
        const whole = withTyped(line, typed)
        return note === undefined ? whole : withPurpose(whole, note)
      }),
      ...(items.length === 0 && commands.length === 0
        ? ['kvup releases     lists the releases that this kvup knows']
        : []),
      ...commands,
    ],
  })
}

/** The line to a release, with what else was typed behind it. */
function withTyped(line: string, typed: string): string {
  const words = wordsOf(line)
  const more = withoutFlags(wordsOf(typed), { valued: ['--to', '--method'] })
  return [...words, ...more.filter((word) => !words.includes(word))].join(' ')
}

function whatThereIs(
  { items = [], none }: AvailableTargetsDocument,
  stands: string,
  { method }: AvailableTargets['asks'],
): string {
  const best = items.find(({ isRecommended }) => isRecommended)
  if (best) return `${best.version} is recommended`
  if (items.length > 0) return `available: ${items.map(({ version }) => version).join(', ')}`
  if (method === 'olm') return none ?? 'the catalog has nothing later'
  return `kvup knows no newer release than ${stands.replace(/^\S+ /u, '')}`
}
