import { dirname, isAbsolute, join } from 'node:path'
import type { Context } from '../../context.ts'
import { contextsLike, type FleetMember, isLike, parseFleet } from '../../lib/fleet/fleet-file.ts'
import { failedRow, type FleetPlace, type FleetRow } from '../../lib/fleet/fleet-rows.ts'
import { inParallel, withinTime } from '../../lib/fleet/in-parallel.ts'
import { ownClock } from '../../lib/kube/clock.ts'
import { parseDuration } from '../../lib/kube/duration.ts'
import { cannotRead, KvupError, unreachable, usageError } from '../../lib/kube/errors.ts'
import { requestTimeout } from '../../lib/kube/http/http-cluster.ts'
import { loadKubeconfig } from '../../lib/kube/http/kubeconfig.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { nearest } from '../../lib/kube/text.ts'
import { acceptedWords } from '../command-options.ts'
import { commandSpeech } from '../../lib/output/command-line.ts'
import { readClusterUid } from '../../lib/kubevirt/full-snapshot.ts'

/** Which clusters, and how they are asked. */
export interface FleetOptions {
  /** No flag: of each cluster. */
  mostSockets?: number
  contexts?: readonly string[]
  file?: string
  canary?: readonly string[]
  parallel: string
  clusterTimeout: string
}

/** A cluster of the fleet, and the context of a command that works on it alone. */
export interface OpenMember {
  member: FleetMember
  place: FleetPlace
  cx: Context
  /** Ends what is asked of it. */
  over: AbortController
}

/** The fleet as far as it answers: each cluster once, and a row for each that could not be read. */
export interface OpenFleet {
  open: readonly OpenMember[]
  failed: readonly FleetRow[]
}

/** Those that the command line or the file names. Throws `usage` where that is none, or one that no kubeconfig has. */
export async function fleetMembers(cx: Context, options: FleetOptions): Promise<readonly FleetMember[]> {
  const { contexts = [], file, canary = [] } = options
  if (cx.flags.server !== undefined || cx.flags.cluster !== undefined)
    throw usageError('contradiction', '--server and --cluster name one cluster, and a fleet has many', {
      remedy: "kvup fleet status --contexts 'prod-*'     names them by their contexts",
    })
  if (contexts.length > 0 === (file !== undefined))
    throw usageError('no-fleet', 'name the clusters with --contexts or with --file, one of the two', {
      remedy: "kvup fleet status --contexts '*'     takes every context of the kubeconfig",
    })
  const members = file === undefined ? await byContexts(cx, contexts) : await byFile(cx, file)
  const unknown = canary.find((pattern) => !members.some(({ name }) => isLike(name, [pattern])))
  if (unknown !== undefined)
    throw usageError('no-such-cluster', `--canary ${unknown} names no cluster of the fleet`, {
      remedy: `name one of ${members
        .slice(0, 5)
        .map(({ name }) => name)
        .join(', ')}`,
    })
  return members.map((member) =>
    isLike(member.name, canary) ? Object.assign({}, member, { group: 0 }) : member,
  )
}

async function contextNames(cx: Context, kubeconfig: string | undefined): Promise<readonly string[]> {
  const connection = kubeconfig === undefined ? cx.flags : { ...cx.flags, kubeconfig }
  return (await loadKubeconfig(connection, cx.world.env)).contexts.map(({ name }) => name)
}

async function byContexts(cx: Context, patterns: readonly string[]): Promise<readonly FleetMember[]> {
  const names = await contextNames(cx, undefined)
  const unknown = patterns.find((pattern) => contextsLike(names, [pattern]).length === 0)
  if (unknown !== undefined)
    throw usageError('no-such-context', `no context of the kubeconfig is like ${unknown}`, {
      remedy: 'kubectl config get-contexts     lists them',
    })
  return contextsLike(names, patterns).map((name) => ({ name, context: name, accept: [] }))
}

/** A kubeconfig that the file names lies beside it, unless its path is whole. */
async function byFile(cx: Context, file: string): Promise<readonly FleetMember[]> {
  const unread = cannotRead('fleet-file', `the fleet file ${file}`, 'name a file that exists: --file FILE')
  const text = await cx.world.readText(file).catch(unread)
  const members = parseFleet(text, file).map((member) => {
    const { kubeconfig } = member
    const isBeside = kubeconfig !== undefined && !isAbsolute(kubeconfig)
    return isBeside ? Object.assign({}, member, { kubeconfig: join(dirname(file), kubeconfig) }) : member
  })
  const known = new Map<string | undefined, readonly string[]>()
  for (const { context, kubeconfig, at = file } of members) {
    const names = known.get(kubeconfig) ?? (await contextNames(cx, kubeconfig))
    known.set(kubeconfig, names)
    if (names.includes(context)) continue
    const meant = nearest(context, names)
    throw usageError('fleet-file', `${at}: no kubeconfig has a context ${JSON.stringify(context)}`, {
      remedy: [
        ...(meant === undefined ? [] : [`did you mean ${meant}?`]),
        'kubectl config get-contexts     lists them',
      ],
    })
  }
  return members
}

const flag = (name: string, value: string) => ({
  names: [name],
  text: `${name} ${shellWord(value)}`,
  kubectl: true,
})

/** Lines that were printed for one cluster, as they have to be typed in front of the fleet; those about the fleet stay. */
export function linesFor(
  { context, kubeconfig }: Pick<FleetMember, 'context' | 'kubeconfig'>,
  lines: readonly string[],
): readonly string[] {
  const connection = [
    ...(kubeconfig === undefined ? [] : [flag('--kubeconfig', kubeconfig)]),
    flag('--context', context),
  ]
  const speech = commandSpeech({ name: 'kvup', connection })
  return lines.map((line) => (/\bkvup fleet\b/u.test(line) ? line : speech.parts({ next: line }).next))
}

/** Risks of the command line, and those of this cluster in the fleet file. */
export const acceptedBy = (member: Pick<FleetMember, 'accept'>, accept: readonly string[]): string[] => [
  ...accept,
  ...member.accept.flatMap((word) => acceptedWords(word, [])),
]

/** How many at a time. Throws `usage`. */
export function parallelOf(text: string): number {
  const limit = Number(text)
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= 500) return limit
  throw usageError('parallel', `--parallel takes a number from 1 to 500, not ${JSON.stringify(text)}`)
}

/** Asks each cluster which it is; two contexts of one are the first of them, which is said. What does not answer is a row. */
export async function openFleet(
  cx: Context,
  members: readonly FleetMember[],
  options: FleetOptions,
): Promise<OpenFleet> {
  const ms = parseDuration(options.clusterTimeout)
  const asked = await inParallel(members, parallelOf(options.parallel), async (member) => {
    const one = memberContext(cx, member, options)
    try {
      return { ...one, ...(await withinTime(identified(one), limitOf(cx, ms))) }
    } catch (error) {
      one.over.abort(error)
      if (!(error instanceof KvupError) || cx.signal.aborted) throw error
      return { row: failedRow(one.place, error) }
    }
  })
  return {
    open: onceEach(asked.filter((one) => 'cx' in one)),
    failed: asked.flatMap((one) => ('row' in one ? [one.row] : [])),
  }
}

/** The work on each, within its time; one that stops answering meanwhile is one that does not answer. Nothing more is asked of it afterwards. */
export async function eachOpen<R>(
  cx: Context,
  open: readonly OpenMember[],
  { clusterTimeout, parallel }: Pick<FleetOptions, 'clusterTimeout' | 'parallel'>,
  {
    work,
    failed,
  }: { work: (one: OpenMember) => Promise<R>; failed: (one: OpenMember, error: KvupError) => R },
): Promise<readonly R[]> {
  const ms = parseDuration(clusterTimeout)
  return inParallel(open, parallelOf(parallel), async (one) => {
    try {
      return await withinTime(work(one), limitOf(cx, ms))
    } catch (error) {
      if (!(error instanceof KvupError) || cx.signal.aborted) throw error
      return failed(one, error)
    } finally {
      one.over.abort(new Error('it was looked at'))
    }
  })
}

/** By this machine's clock: a simulated cluster says only later how fast its time runs. */
const limitOf = ({ clock, signal }: Context, ms: number) => ({ clock: ownClock(clock), ms, signal })

function memberContext(
  cx: Context,
  member: FleetMember,
  { mostSockets, clusterTimeout }: Pick<FleetOptions, 'mostSockets' | 'clusterTimeout'>,
): OpenMember {
  const over = new AbortController()
  const { name, context, kubeconfig } = member
  const { server: _, cluster: __, ...flags } = cx.flags
  // A look as a whole ends before one of its requests would: thousands of timers less.
  const { requestTimeout: limit } = flags
  const isBounded = mostSockets !== undefined && (requestTimeout(limit) ?? 0) >= parseDuration(clusterTimeout)
  const connection = {
    context,
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(mostSockets !== undefined && { mostSockets }),
    ...(isBounded && { requestTimeout: '0' }),
  }
  const warn = (line: string) => cx.printer.warn(`${name}: ${line}`)
  const there = cx.elsewhere(connection, { warn, ending: over.signal })
  const printer = { ...cx.printer, warn, note: (line: string) => cx.printer.note(`${name}: ${line}`) }
  const own: Context = { ...cx, ...there, flags: { ...flags, ...connection }, printer }
  const place = { name, context, ...(kubeconfig !== undefined && { kubeconfig }) }
  return { member, place, cx: own, over }
}

async function identified({ cx, place }: OpenMember): Promise<Pick<OpenMember, 'place'>> {
  const { address, reader } = await cx.cluster()
  const [uid] = await readClusterUid(reader)
  if (uid === undefined)
    throw unreachable('no-cluster-uid', 'it has no namespace kube-system, by whose uid a cluster is known')
  // Files are called by it, and lines name them.
  if (!/^[\da-zA-Z][-\da-zA-Z]{0,127}$/u.test(uid))
    throw unreachable(
      'no-cluster-uid',
      `the uid of its namespace kube-system is none: ${JSON.stringify(uid)}`,
    )
  return { place: { ...place, ...(address && { server: address.server }), uid } }
}

function onceEach(all: readonly OpenMember[]): readonly OpenMember[] {
  const first = new Map<string | undefined, OpenMember>()
  for (const one of all) {
    const { uid, context } = one.place
    const known = first.get(uid)
    if (known === undefined) first.set(uid, one)
    else first.set(uid, { ...known, place: { ...known.place, also: [...(known.place.also ?? []), context] } })
  }
  return [...first.values()]
}
