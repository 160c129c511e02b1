import { type ConfigMap, ConfigMaps } from '../../../cluster/kinds/core.ts'
import {
  type ClusterOperator,
  ClusterOperators,
  type ClusterVersion,
  ClusterVersions,
} from '../../../cluster/kinds/openshift.ts'
import { whenRung } from '../../machinery/controller.ts'
import { look, type PlatformContext, seconds, writeStatus } from '../platform-context.ts'
import { withRequest } from './accepted.ts'
import { withProgress } from './progress.ts'
import { type Request, requestOf } from './requested.ts'
import { withoutUpdates, withUpdates } from './retrieval.ts'
import { withUpgradeable } from './upgradeable.ts'

type Status = NonNullable<ClusterVersion['status']>
type Standing = ClusterVersion & { status: Status }

/** In ms: until a change is noticed, a release is fetched and verified, the update service has answered. */
const takes = { noticing: 2000, loading: 15_000, retrieving: 8000 }

const gatesNamespace = 'openshift-config-managed'
const acksNamespace = 'openshift-config'

/** Keeps the status of the ClusterVersion: whether an update is accepted, how far it is, which updates there are, and what stands in the way of another minor. */
export function runClusterVersion(cx: PlatformContext): Promise<void> {
  const watched = [
    { kind: ClusterVersions },
    { kind: ClusterOperators },
    { kind: ConfigMaps, where: { namespace: gatesNamespace } },
    { kind: ConfigMaps, where: { namespace: acksNamespace } },
    cx.faults,
  ]
  const memory = new Waits()
  return whenRung(
    cx,
    watched,
    async () => {
      const [version] = await cx.reader.list(ClusterVersions)
      if (!version?.status) return takes.noticing
      memory.begin()
      const status = await nextStatus(cx, { ...version, status: version.status }, memory)
      await writeStatus(cx, ClusterVersions, version, status)
      if (memory.pending) return takes.noticing
      return status.history?.[0]?.state === 'Partial' ? look : undefined
    },
    () => takes.noticing,
  )
}

async function nextStatus(cx: PlatformContext, version: Standing, memory: Waits): Promise<Status> {
  const [now, at] = [cx.clock.now(), seconds(cx)]
  const operators = await cx.reader.list(ClusterOperators)
  const judged = await judgedNow(cx, version, operators)
  const request = requestOf(judged, cx.shape.graph)
  const loading = isLoad(request) && memory.waits('load', asked(version), now)
  const status = withProgress(withRequest(judged, request, { loading, at }), operators, now)
  return updatesOf(cx, status, version.spec?.channel ?? '', memory)
}

const isLoad = ({ is }: Request): boolean => is === 'release' || is === 'failed'
const asked = ({ spec }: ClusterVersion): string => JSON.stringify(spec?.desiredUpdate ?? null)

/** With what stands in the way of another minor, as of now. */
async function judgedNow(
  cx: PlatformContext,
  version: Standing,
  operators: readonly ClusterOperator[],
): Promise<Standing> {
  const seen = { version, operators, gates: await gates(cx), acks: await acks(cx) }
  const conditions = withUpgradeable(version.status.conditions ?? [], seen, seconds(cx))
  const observedGeneration = version.metadata.generation ?? 1
  return { ...version, status: { ...version.status, observedGeneration, conditions } }
}

function updatesOf(cx: PlatformContext, status: Status, channel: string, memory: Waits): Status {
  const { graph } = cx.shape
  if (memory.waits('updates', channel, cx.clock.now())) return withoutUpdates(status)
  const answers = cx.faults.on.updatesNotRetrieved !== true
  return withUpdates(status, { channel, graph, at: seconds(cx) }, answers)
}

const gates = (cx: PlatformContext): Promise<ConfigMap | undefined> =>
  configMap(cx, { name: 'admin-gates', namespace: gatesNamespace })
const acks = (cx: PlatformContext): Promise<ConfigMap | undefined> =>
  configMap(cx, { name: 'admin-acks', namespace: acksNamespace })

async function configMap(
  { reader }: PlatformContext,
  ref: { name: string; namespace: string },
): Promise<ConfigMap | undefined> {
  const found = await reader.find(ConfigMaps, ref)
  return found.is === 'object' ? found.object : undefined
}

/** What takes its time, since when: forgotten with the process, and begun again. */
class Waits {
  readonly #of = new Map<'load' | 'updates', { what: string; until: number }>()
  #pending = false

  /** A new look: nothing is waited for yet. */
  begin(): void {
    this.#pending = false
  }

  /** Whether this look found something still under way: time that its own calls took is no reason not to look again. */
  get pending(): boolean {
    return this.#pending
  }

  /** Whether that is still under way; it begins when it is asked for the first time. */
  waits(of: 'load' | 'updates', what: string, now: Date): boolean {
    const time = of === 'load' ? takes.loading : takes.retrieving
    const known = this.#of.get(of)
    const wait = known?.what === what ? known : { what, until: now.getTime() + time }
    this.#of.set(of, wait)
    const waiting = now.getTime() < wait.until
    this.#pending ||= waiting
    return waiting
  }
}
