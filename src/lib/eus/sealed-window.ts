import { type Leaf, leavesOf } from '../kube/field-changes.ts'
import type { HyperConverged, Subscription } from '../kube/kinds/operator-kinds.ts'
import type { ClusterVersion, MachineConfigPool } from '../kube/kinds/openshift-kinds.ts'
import type { Metadata } from '../kube/object.ts'
import { filled } from '../kube/known.ts'
import {
  driftLines,
  driftOf,
  readSealed,
  type SealedFact,
  sealedFact,
  type SealedPlan,
} from '../engine/sealed-plan.ts'
import { begunSteps, hasDrifted, type Relied, readFact, split } from '../upgrade/sealed-facts.ts'
import type { CommandContext } from '../kube/world.ts'
import { cannotRead, usageError } from '../kube/errors.ts'
import type { WindowSnapshot } from './run/window-snapshot.ts'
import { asSealed, sealedPath, windowWork, withPath } from './baseline.ts'
import { type EusClusterSnapshot, readEusCluster } from './plan/eus-snapshot.ts'
import { shellWord } from '../kube/shell-line.ts'
import { ensureSameCluster } from '../upgrade/plan/plan-document.ts'
import type { EusRunOptions } from './run/window-run.ts'

/**
 * The release that the platform runs and is asked for, which pools there are and whether they are paused, the Subscription, and the
 * settings of HyperConverged that are borrowed: it rewrites other parts of its spec in each upgrade (night E13). Nodes may come and go. Pure.
 */
export function reliedOnByEus({
  platform: { clusterVersion, pools },
  lifecycle: { subscriptions },
  hyperconverged,
  clusterUid,
}: EusClusterSnapshot): Relied {
  return {
    cluster: clusterUid.known ? clusterUid.items[0] : undefined,
    ...split([
      readFact('platform', clusterVersion, ([cv]) => cv && platform(cv)),
      readFact('pools', pools, (all) => sealedFact('pools', 'machineconfigpools', poolLeaves(all))),
      readFact('subscription', subscriptions, ([one]) => one && subscription(one)),
      readFact('hyperconverged', hyperconverged, ([one]) => one && overriddenOf(one)),
    ]),
  }
}

function platform({ metadata, spec = {}, status = {} }: ClusterVersion): SealedFact {
  const { channel, upstream, desiredUpdate } = spec
  const asked = filled({ channel, upstream, desiredUpdate })
  const observed = {
    metadata,
    spec: asked,
    status: { desired: filled({ version: status.desired?.version }) },
  }
  return objectFact('platform', 'clusterversions', observed)
}

/** The rest of its status is OLM's diary: times, generations, the health of catalogs. */
function subscription({ metadata, spec, status = {} }: Subscription): SealedFact {
  const observed = { metadata, spec, status: filled({ installedCSV: status.installedCSV }) }
  return objectFact('subscription', 'subscriptions', observed)
}

function poolLeaves(pools: readonly MachineConfigPool[]): Record<string, Leaf> {
  return Object.fromEntries(
    pools.flatMap(({ metadata, spec = {} }): [string, Leaf][] => [
      [`${metadata.name}.uid`, metadata.uid ?? ''],
      [`${metadata.name}.paused`, spec.paused === true],
    ]),
  )
}

function objectFact(
  id: string,
  kind: string,
  { metadata, spec, status }: { metadata: Metadata; spec?: unknown; status?: unknown },
): SealedFact {
  const { uid, name, namespace } = metadata
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`
  const leaves = leavesOf(filled({ metadata: filled({ uid }), spec, status }))
  return sealedFact(id, `${kind}/${name}${where}`, leaves)
}

/** v1 keeps below `virtualization` what v1beta1 has at the top. */
function overriddenOf({ metadata, spec = {} }: HyperConverged): SealedFact {
  const under = spec['virtualization']
  const at = (typeof under === 'object' && under !== null ? under : spec) as Record<string, unknown>
  const { workloadUpdateStrategy, evictionStrategy } = at
  return objectFact('hyperconverged', 'hyperconvergeds', {
    metadata,
    spec: filled({ workloadUpdateStrategy, evictionStrategy }),
  })
}

/** Reads `--plan FILE`, or standard input. Throws `usage` for what is no whole plan of `kvup eus plan`. */
export async function readEusPlan(
  { world }: Pick<CommandContext, 'world'>,
  file: string,
): Promise<SealedPlan> {
  if (file === '-') return readSealed(await world.readStdin(), 'standard input', 'EusPlan')
  const made = `kvup eus plan --to-file ${shellWord(file)}`
  const text = await world.readText(file).catch(cannotRead('plan-missing', `the plan ${file}`, made))
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
  const now = reliedOnByEus(await readEusCluster(windowSnapshot.cluster, cx.clock))
  ensureSameCluster(file, seal.cluster, now.cluster)
  const begun = begunSteps(await windowSnapshot.environment.journal.entries(), seal.uid)
  const lines = driftLines(driftOf(seal.facts, now, windowWork(begun)))
  if (lines.length > 0) throw hasDrifted(lines, sealed, planAnewLine(sealed))
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
