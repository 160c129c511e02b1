import type { CommandContext } from '../../kube/world.ts'
import { driftLines, driftOf, readSealed, type SealedPlan } from '../../engine/sealed-plan.ts'
import { drifted, usageError } from '../../kube/errors.ts'
import type { WindowSnapshot, EusRunOptions } from './window-snapshot.ts'
import { asSealed, sealedPath, windowWork, withPath } from '../chosen-path.ts'
import { readEusCluster } from '../plan/eus-snapshot.ts'
import { reliedOnByEus } from '../sealed-eus-facts.ts'
import { shellWord } from '../../kube/shell-line.ts'
import { begunSteps } from '../../upgrade/sealed-facts.ts'
import { ensureSameCluster } from '../../upgrade/plan/plan-document.ts'

/** Reads `--plan FILE`, or standard input. Throws `usage` for what is no whole plan of `kvup eus plan`. */
export async function readEusPlan(
  { world }: Pick<CommandContext, 'world'>,
  file: string,
): Promise<SealedPlan> {
  if (file === '-') return readSealed(await world.readStdin(), 'standard input', 'EusPlan')
  const text = await world.readText(file).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw usageError('plan-missing', `cannot read the plan ${file}: ${why}`, {
      remedy: `kvup eus plan --to-file ${shellWord(file)}`,
      cause,
    })
  })
  return readSealed(text, file, 'EusPlan')
}

/** Target, files and accepted risks are the plan's. Throws `usage` for a flag that would make another one. */
export function asPlanned(typed: EusRunOptions, { request, accepted, file }: SealedPlan): EusRunOptions {
  const differing = (['to', 'graphFile', 'catalogFile', 'releases'] as const).find(
    (name) => typed[name] !== undefined && typed[name] !== request[name],
  )
  const more = typed.accept.filter((word) => !accepted.some(({ id }) => word.split('=')[0] === id))
  if (differing !== undefined || more.length > 0)
    throw usageError(
      'contradiction',
      `--plan carries out what ${file} says, and ${differing === undefined ? `--accept ${more[0] ?? ''}` : planningFlag(differing)} says something else`,
      { remedy: `kvup eus plan --to-file ${shellWord(file)}      makes a plan with it` },
    )
  const text = (name: string) => (typeof request[name] === 'string' ? { [name]: request[name] } : {})
  return {
    ...typed,
    ...text('to'),
    ...text('graphFile'),
    ...text('catalogFile'),
    ...text('releases'),
    accept: accepted.map(({ id }) => id),
  }
}

const planningFlag = (name: string): string => `--${name.replace('File', '-file')}`

/** The same window with the releases that were sealed. */
export const withSealedHops = (windowSnapshot: WindowSnapshot, { document }: SealedPlan): WindowSnapshot => ({
  ...windowSnapshot,
  window: withPath(
    { ...windowSnapshot.window, hops: asSealed(windowSnapshot.window.hops, document) },
    sealedPath(document),
  ),
})

/** The cluster is the one that the plan was made for, and stands as it stood then or as the plan's own steps leave it. Throws `drifted` (5). */
export async function ensureEusFits(
  cx: CommandContext,
  windowSnapshot: WindowSnapshot,
  sealed: SealedPlan,
): Promise<void> {
  const { seal, file } = sealed
  const snapshot = await readEusCluster(windowSnapshot.cluster, cx.clock)
  const { platform, lifecycle, hyperconverged, clusterUid } = snapshot
  const { clusterVersion, pools } = platform
  const { subscriptions } = lifecycle
  const now = reliedOnByEus({ clusterVersion, pools, subscriptions, hyperconverged, clusterUid })
  ensureSameCluster(file, seal.cluster, now.cluster)
  const begun = begunSteps(await windowSnapshot.environment.journal.entries(), seal.uid)
  const lines = driftLines(driftOf(seal.facts, now, windowWork(begun)))
  if (lines.length === 0) return
  throw drifted(
    'drifted',
    `the cluster is no longer as it was when ${file} was made (${seal.at}); nothing was changed`,
    {
      notes: lines.slice(0, 20),
      remedy: `${planAnewLine(sealed)}      makes it anew; look at what is different before you use it`,
    },
  )
}

/** The line that makes such a plan again: with the flags that this one was made with, and into another file, for somebody has reviewed the first. */
function planAnewLine({
  request,
  accepted,
  file,
}: Pick<SealedPlan, 'request' | 'accepted' | 'file'>): string {
  const flags = Object.entries(request).flatMap(([name, value]) =>
    typeof value === 'string' ? [flagOfRequest(name), shellWord(value)] : [],
  )
  const risks = accepted.flatMap(({ id }) => ['--accept', shellWord(id)])
  return ['kvup eus plan', ...flags, ...risks, '--to-file', shellWord(contextOf(file))].join(' ')
}

/** `graphFile` is `--graph-file`. */
const flagOfRequest = (name: string): string =>
  `--${name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`

/** `plan.yaml` → `plan.new.yaml`. Standard input has no name. */
function contextOf(file: string): string {
  if (file === 'standard input') return 'plan.new.yaml'
  const named = /^(?<name>.*[^/])(?<end>\.[^./]+)$/u.exec(file)?.groups
  return named === undefined ? `${file}.new` : `${named['name']}.new${named['end']}`
}
