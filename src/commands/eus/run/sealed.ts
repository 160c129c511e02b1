import type { Context } from '../../../context.ts'
import { asSealed, sealedPath, windowWork, withPath } from '../../../lib/eus/run/sealed-hops.ts'
import { lookForEus } from '../../../lib/eus/plan/look.ts'
import { driftLines, driftOf } from '../../../lib/seal/drift.ts'
import { reliedOnByEus } from '../../../lib/seal/eus-facts.ts'
import { readSealed, type SealedPlan } from '../../../lib/seal/read-sealed.ts'
import { drifted, usageError } from '../../../lib/system/errors.ts'
import { shellWord } from '../../../lib/system/shell-word.ts'
import { begunSteps } from '../../../lib/upgrade/own-work.ts'
import { ensureSameCluster } from '../../upgrade/plan-file.ts'
import type { EusRunOptions } from '../run-flags.ts'
import type { SeenWindow } from '../see-window.ts'
import { planAnewLine } from './plan-anew.ts'

/** Reads `--plan FILE`, or standard input. Throws `usage` for what is no whole plan of `kvup eus plan`. */
export async function readEusPlan({ world }: Pick<Context, 'world'>, file: string): Promise<SealedPlan> {
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
      `--plan carries out what ${file} says, and ${differing === undefined ? `--accept ${more[0] ?? ''}` : flagOf(differing)} says something else`,
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

const flagOf = (name: string): string => `--${name.replace('File', '-file')}`

/** The same window with the releases that were sealed. */
export const withSealedHops = (seen: SeenWindow, { document }: SealedPlan): SeenWindow => ({
  ...seen,
  window: withPath({ ...seen.window, hops: asSealed(seen.window.hops, document) }, sealedPath(document)),
})

/** The cluster is the one that the plan was made for, and stands as it stood then or as the plan's own steps leave it. Throws `drifted` (5). */
export async function ensureEusFits(cx: Context, seen: SeenWindow, sealed: SealedPlan): Promise<void> {
  const { seal, file } = sealed
  const evidence = await lookForEus(seen.cluster, cx.clock)
  const { platform, lifecycle, hyperconverged, clusterUid } = evidence
  const { clusterVersion, pools } = platform
  const { subscriptions } = lifecycle
  const now = reliedOnByEus({ clusterVersion, pools, subscriptions, hyperconverged, clusterUid })
  ensureSameCluster(file, seal.cluster, now.cluster)
  const begun = begunSteps(await seen.hands.journal.entries(), seal.uid)
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
