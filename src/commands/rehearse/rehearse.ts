import type { Context } from '../../context.ts'
import type { Clock } from '../../lib/kube/clock.ts'
import type { Cluster } from '../../lib/kube/cluster.ts'
import { type ExitCode, exitCode, KvupError, usageError } from '../../lib/kube/errors.ts'
import { goDuration } from '../../lib/kube/duration.ts'
import { type Deployment, Deployments } from '../../lib/kube/kinds/workload-kinds.ts'
import { type KubeVirt, KubeVirts } from '../../lib/kube/kinds/kubevirt-kinds.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { readerFor } from '../../lib/kubevirt/snapshot.ts'
import { rehearsalView } from '../../lib/output/views/rehearsal.ts'
import { type ClusterTwin, readClusterTwin } from '../../lib/rehearsal/cluster-twin.ts'
import { ObservedStages } from '../../lib/rehearsal/observed-stages.ts'
import { ObservedVms } from '../../lib/rehearsal/observed-vms.ts'
import type { Rehearsal } from '../../lib/rehearsal/rehearsal.ts'
import { faultsNamed } from '../../lib/rehearsal/twin-faults.ts'
import { parseVersion } from '../../lib/releases/release-versions.ts'
import { ApiFaults, withFaults } from '../../simulator/api/api-faults.ts'
import { inhabit } from '../../simulator/inhabitants.ts'
import { seeded } from '../../simulator/machinery/controller.ts'
import { SimClock } from '../../simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster } from '../../simulator/simulated-cluster.ts'
import { manifestText } from '../demo/demo.ts'
import { runInside } from '../run-inside.ts'
import { upgradeCommand } from '../upgrade.ts'

export interface RehearseOptions {
  to?: string
  method: 'auto' | 'image-tag' | 'operator-manifest'
  from?: string
  fault: readonly string[]
  seed: string
  accept: readonly string[]
}

/** `kvup rehearse`: the upgrade, carried out on a twin of the cluster in this process. Exit 0: through, 4: it would stall, 3: it is blocked. */
export async function rehearse(cx: Context, options: RehearseOptions): Promise<ExitCode> {
  const to = parseVersion(targetOf(options)).text
  const seed = seedOf(options)
  const faults = faultsNamed(options.fault)
  const { cluster, clock } = await readerFor(cx, options.from)
  cx.printer.awaiting('reading the cluster')
  const twin = await readClusterTwin(cluster.reader, clock)
  cx.printer.awaiting('playing the upgrade on the twin')
  const played = await play(cx, { twin, to, seed, faults, options, at: clock.now() })
  cx.printer.result(
    {
      apiVersion: 'kvup.io/v1alpha1',
      kind: 'Rehearsal',
      from: twin.shape.version ?? '',
      to,
      seed,
      ...(faults.length > 0 && { faults: faults.map(({ name }) => name) }),
      twin: twin.counts,
      ...played,
      missing: twin.missing,
      next: nextLines(played, to, options),
    },
    rehearsalView,
  )
  return codes[played.outcome]
}

const codes = { through: exitCode.done, stalls: exitCode.timedOut, blocked: exitCode.blocked } as const

function targetOf({ to }: RehearseOptions): string {
  if (to !== undefined) return to
  throw usageError('no-target', 'name a version with --to', {
    remedy: 'kvup releases     lists the releases that this kvup knows',
  })
}

function seedOf({ seed }: RehearseOptions): number {
  const number = Number(seed)
  if (/^\d+$/u.test(seed) && Number.isSafeInteger(number)) return number
  throw usageError('seed', `--seed takes a whole number, not ${JSON.stringify(seed)}`)
}

interface Played extends Pick<Rehearsal, 'outcome' | 'code' | 'method' | 'stages' | 'vms'> {
  upgradeSeconds?: number
  vmUpdateSeconds?: number
  why?: NonNullable<Rehearsal['why']>
}

interface Play {
  twin: ClusterTwin
  to: string
  seed: number
  faults: ReturnType<typeof faultsNamed>
  options: RehearseOptions
  /** When the cluster was seen: the twin's time begins there. */
  at: Date
}

async function play(cx: Context, { twin, to, seed, faults, options, at }: Play): Promise<Played> {
  const clock = new SimClock(at.toISOString())
  const random = seeded(seed)
  const simulated = await simulate({ clock, ...twin.shape, random })
  try {
    const { namespace = 'kubevirt' } = twin.shape
    inhabit(simulated.store, twin.inhabitants, { namespace, random, now: at.toISOString() })
    await clock.sleep(settling)
    simulated.faults.set(twin.faults)
    const observed = new ObservedVms(simulated.store)
    const api = new ApiFaults(simulated.store)
    const stages = new ObservedStages(() => {
      for (const { inCluster, inApi } of faults) {
        if (inCluster) simulated.faults.set(inCluster(twin, to))
        if (inApi) api.add(inApi)
      }
    })
    const ended = await upgradeOn(cx, { simulated, clock, stages, api, to, options })
    const began = stages.began ?? clock.now().getTime()
    const upgraded = clock.now().getTime()
    const lastMove =
      ended.code === exitCode.done ? await vmsSettle(simulated, { clock, observed, namespace }) : upgraded
    observed.stop()
    return {
      outcome: outcomeOf(ended, stages),
      code: ended.code,
      method: methodOf(options, twin),
      ...(stages.began !== undefined && { upgradeSeconds: Math.round((upgraded - began) / 1000) }),
      ...(lastMove > upgraded && { vmUpdateSeconds: Math.round((lastMove - upgraded) / 1000) }),
      stages: stages.stages(),
      vms: observed.vms(launcherImage(simulated, namespace), began),
      ...(ended.error && { why: whyOf(ended.error) }),
    }
  } finally {
    await simulated.stop()
  }
}

/** So long the twin is left alone with its inhabitants before anything is done, in ms. */
const settling = 60_000

function methodOf({ method }: RehearseOptions, { shape }: ClusterTwin): string {
  return method === 'auto' ? (shape.method ?? 'operator-manifest') : method
}

const whyOf = ({ reason, message, notes, remedy }: KvupError): NonNullable<Rehearsal['why']> => ({
  reason,
  message,
  notes,
  remedy,
})

/** Also where VMs were lost meanwhile. */
const isThrough = ({ code }: Ended): boolean => code === exitCode.done || code === exitCode.lost

function outcomeOf(ended: Ended, { began }: ObservedStages): Rehearsal['outcome'] {
  if (isThrough(ended)) return 'through'
  return began === undefined ? 'blocked' : 'stalls'
}

interface Ended {
  code: ExitCode
  error?: KvupError
}

interface Stage {
  simulated: SimulatedCluster
  clock: SimClock
  stages: ObservedStages
  api: ApiFaults
  to: string
  options: RehearseOptions
}

/** `kvup upgrade` as it would be typed, with nobody to ask. Throws what was typed wrong, and what ends this process. */
async function upgradeOn(cx: Context, stage: Stage): Promise<Ended> {
  const { to, options, simulated } = stage
  const args = [
    ...['--to', to, '--method', options.method, '--stalled-after', '15m'],
    ...options.accept.flatMap((risk) => ['--accept', risk]),
  ]
  const manifest = options.method === 'image-tag' ? [] : ['--manifest', '-']
  const inside = insideTwin(cx, stage, manifestText(simulated.operatorManifest(to)))
  try {
    const line = `kvup upgrade --to ${shellWord(to)}`
    return { code: await runInside(inside, { line, command: upgradeCommand, args: [...args, ...manifest] }) }
  } catch (error) {
    if (!(error instanceof KvupError) || error.exitCode === exitCode.usage || cx.signal.aborted) throw error
    return { code: error.exitCode, error }
  }
}

function insideTwin(cx: Context, { simulated, clock, stages, api }: Stage, manifest: string): Context {
  const cluster: Cluster = withFaults(simulated.cluster(), api)
  return {
    ...cx,
    clock,
    cluster: async () => cluster,
    prompt: { confirm: async () => true },
    printer: {
      result: () => undefined,
      unchanged: () => undefined,
      rows: () => ({ add: () => undefined, end: () => undefined }),
      event: (event) => stages.hear(event),
      awaiting: () => undefined,
      note: () => undefined,
      warn: () => undefined,
    },
    flags: { ...cx.flags, yes: true },
    world: { ...cx.world, readStdin: async () => manifest, writeText: async () => undefined },
  }
}

interface Settling {
  clock: Clock
  observed: ObservedVms
  namespace: string
}

/** Lets KubeVirt do with VMs what it does by itself, and tells when the last one was done (ms since the epoch). */
async function vmsSettle(
  simulated: SimulatedCluster,
  { clock, observed, namespace }: Settling,
): Promise<number> {
  const image = launcherImage(simulated, namespace)
  const patience = patienceWith(simulated, namespace)
  let left = observed.outdated(image)
  let changed = clock.now().getTime()
  while (left > 0 && clock.now().getTime() - changed < patience) {
    await clock.sleep(2000)
    const now = observed.outdated(image)
    if (now !== left) changed = clock.now().getTime()
    left = now
  }
  return changed
}

/** How long nothing has to change before nothing more is expected, in ms: longer than migrations wait for a node, and than batches lie apart. */
function patienceWith({ store }: SimulatedCluster, namespace: string): number {
  const [kubevirt]: readonly KubeVirt[] = store.list(KubeVirts, { namespace }).items
  const { workloadUpdateMethods, batchEvictionInterval = '1m' } = kubevirt?.spec?.workloadUpdateStrategy ?? {}
  if ((workloadUpdateMethods ?? []).length === 0) return 0
  return Math.max(15 * 60_000, 2 * (goDuration(batchEvictionInterval) ?? 0))
}

function launcherImage({ store }: SimulatedCluster, namespace: string): string {
  const controller: Deployment | undefined = store.read(Deployments, { name: 'virt-controller', namespace })
  const args = controller?.spec?.template?.spec?.containers?.[0]?.args ?? []
  return args[args.indexOf('--launcher-image') + 1] ?? ''
}

/** Of an upgrade that does not come through: what can be looked at in the cluster now. Pods of the twin are not there. */
function nextLines({ outcome, why }: Played, to: string, { accept, from }: RehearseOptions): string[] {
  const flags = (risks: readonly string[]) => risks.map((risk) => ` --accept ${shellWord(risk)}`).join('')
  const saved = from === undefined ? '' : ` --from ${shellWord(from)}`
  if (outcome === 'through') return [`kvup upgrade --to ${to}${flags(accept)}     # does it in the cluster`]
  const risks = risksIn(why?.remedy ?? [])
  if (outcome === 'blocked' && risks.length > 0)
    return [
      `kvup check --to ${to}${saved}     # says what the risk is`,
      `kvup rehearse --to ${to}${saved}${flags([...accept, ...risks])}     # plays it with the risk accepted`,
    ]
  return [`kvup check --to ${to}${saved}     # says what can be seen beforehand`]
}

/** Names that a line accepts which the upgrade offers. */
const risksIn = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.startsWith('kvup upgrade '))
    .flatMap((line) =>
      [...line.matchAll(/ --accept (?<risk>[a-z0-9-]+)/gu)].map(({ groups }) => groups?.['risk'] ?? ''),
    )
