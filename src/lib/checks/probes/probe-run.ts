import type { Cluster } from '../../kube/cluster.ts'
import { Events } from '../../kube/kinds/core-kinds.ts'
import { type ContainerState, type ContainerStatus, type Pod, Pods } from '../../kube/kinds/workload-kinds.ts'
import type { ImageProbe } from '../../kubevirt/full-snapshot.ts'
import { itemsOf, known } from '../../kube/known.ts'
import { isImageReason, pullFailure } from '../../kubevirt/diagnosis/pod-trouble.ts'
import { shorten } from '../../kube/text.ts'
import { type Clock, ticks } from '../../kube/clock.ts'
import type { Probe } from './probe-plan.ts'
import { readRefusal } from '../../kube/access-rights.ts'
import { ApiError, isNotFound } from '../../kube/errors.ts'

interface ProbeWork {
  probes: readonly Probe[]
  namespace: string
  /** A name that no other run has: a label's value. */
  run: string
}

interface ProbeEnvironment {
  cluster: Pick<Cluster, 'reader' | 'writer'>
  clock: Clock
  signal: AbortSignal
  /** One is through, after so many ms. */
  told(result: ImageProbe, took: number): void
  /** Nothing was told for 30 s: what is waited for. */
  still(images: readonly string[]): void
  /** Pods could not be removed; Kubernetes ends them. */
  left(error: unknown): void
}

const atOnce = 10
const pause = 1000
const heartbeat = 30_000
/** A failure that may pass, as a registry that is busy, is given so long. */
const patience = 60_000
/** A kubelet that is silent ends nothing; so long after the limit we do. */
const grace = 15_000

interface Try {
  probe: Probe
  began: number
  /** When it was first seen to fail, and what was said. */
  failing?: { since: number; text: string }
}

/**
 * Makes a pod for each probe, ten at a time, sees what becomes of its pull, and removes it (night C6). However it ends, Ctrl-C included, the
 * pods of this run are removed. Throws what the server answers when it cannot be asked, and the signal's reason.
 */
export async function runProbes(
  work: ProbeWork,
  environment: ProbeEnvironment,
): Promise<readonly ImageProbe[]> {
  const run = new ProbeRun(work, environment)
  try {
    return await run.results()
  } finally {
    await run.end()
  }
}

class ProbeRun {
  readonly #environment: ProbeEnvironment
  readonly #namespace: string
  readonly #run: string
  readonly #pods: ProbePods
  readonly #waiting: Probe[]
  readonly #active = new Map<string, Try>()
  readonly #results = new Map<Probe, ImageProbe>()
  readonly #probes: readonly Probe[]
  #room = atOnce
  #made = 0
  #lastWord: number

  constructor({ probes, namespace, run }: ProbeWork, environment: ProbeEnvironment) {
    this.#environment = environment
    this.#namespace = namespace
    this.#run = run
    this.#pods = new ProbePods(environment.cluster, { namespace, run })
    this.#probes = probes
    this.#waiting = [...probes]
    this.#lastWord = this.#now
  }

  /** In the order of the probes. */
  async results(): Promise<readonly ImageProbe[]> {
    const { clock, signal } = this.#environment
    for (;;) {
      signal.throwIfAborted()
      await this.#fill()
      if (this.#active.size === 0 && this.#waiting.length === 0) break
      await clock.sleep(pause, signal)
      await this.#judge()
    }
    return this.#probes.flatMap((probe) => this.#results.get(probe) ?? [])
  }

  async end(): Promise<void> {
    try {
      await this.#pods.removeAll()
    } catch (error) {
      this.#environment.left(error)
    }
  }

  get #now(): number {
    return ticks(this.#environment.clock)
  }

  async #fill(): Promise<void> {
    const batch = this.#waiting.splice(0, Math.max(0, this.#room - this.#active.size))
    const began = this.#now
    const tried = await Promise.all(
      batch.map(async (probe) => {
        const name = `kvup-probe-${this.#run}-${++this.#made}`
        const created = await this.#pods.create(probe, name)
        if (created.is === 'made') this.#active.set(name, { probe, began })
        return { probe, created }
      }),
    )
    for (const { probe, created } of tried) if (created.is !== 'made') this.#refused(probe, created)
  }

  /** A quota may leave room for fewer at once; for none is for good. */
  #refused(probe: Probe, { is, why, message }: Exclude<Created, { is: 'made' }>): void {
    if (is === 'full' && this.#active.size > 0) {
      this.#room = this.#active.size
      this.#waiting.push(probe)
    } else this.#tell(probe, { is: 'untried', why, message }, this.#now)
  }

  async #judge(): Promise<void> {
    const pods = await this.#pods.mine()
    await Promise.all([...this.#active].map(([name, one]) => this.#judgeOne(name, one, pods.get(name))))
    if (this.#active.size === 0 || this.#now - this.#lastWord < heartbeat) return
    this.#lastWord = this.#now
    this.#environment.still([...new Set([...this.#active.values()].map(({ probe }) => probe.image))])
  }

  async #judgeOne(name: string, one: Try, pod: Pod | undefined): Promise<void> {
    const outcome = pod ? await this.#outcome(one, pod) : gone
    if (outcome === undefined) return
    this.#active.delete(name)
    this.#tell(one.probe, outcome, one.began)
    // What fails here is tried again at the end.
    if (pod) await this.#pods.remove(pod).catch(() => undefined)
  }

  /** Undefined: not yet. */
  async #outcome(one: Try, pod: Pod): Promise<Outcome | undefined> {
    const pull = readPull(pod)
    if (pull.is === 'pulled') return pull
    if (pull.is === 'ended') return one.failing ? refusedBy(one.failing.text) : { ...pull, is: 'untried' }
    if (pull.is === 'failing') return this.#failing(one, pod, pull)
    if (this.#now - one.began < pullLimit * 1000 + grace) return undefined
    const text = await this.#events(pod)
    return { is: 'untried', why: 'it did not appear in time', ...(text && { message: shorten(text) }) }
  }

  async #failing(one: Try, pod: Pod, { reason, message }: Extract<PullSnapshot, { is: 'failing' }>) {
    one.failing ??= { since: this.#now, text: message || reason }
    // The words of a back-off have lost the cause; the event of the failure keeps it.
    if (pullFailure(one.failing.text) === undefined) {
      const text = [message, await this.#events(pod), reason].find((some) => some && pullFailure(some))
      one.failing.text = text ?? one.failing.text
    }
    const why = pullFailure(one.failing.text) ?? reason
    const waited = this.#now - one.failing.since
    return isLasting(why) || waited >= patience ? refusedBy(one.failing.text, why) : undefined
  }

  /** Warnings on the pod, in one text; empty where events may not be read. */
  async #events({ metadata: { name } }: Pod): Promise<string> {
    const where = { namespace: this.#namespace, fields: `involvedObject.name=${name},type=Warning` }
    const events = await known(this.#environment.cluster.reader.list(Events, where))
    return [...new Set(itemsOf(events).map(({ message = '' }) => message))].join('; ')
  }

  #tell(probe: Probe, outcome: Outcome, began: number): void {
    const { of, image, needed, nodes, node } = probe
    const result: ImageProbe = { of, image, needed, nodes, node, ...outcome }
    this.#results.set(probe, result)
    this.#lastWord = this.#now
    this.#environment.told(result, this.#now - began)
  }
}

/** What became of a try to create a pod. `full`: a quota, which may have room later. */
type Created = { is: 'made' } | { is: 'full' | 'refused'; why: string; message: string }

/** The pods of one run; no other object is written. */
export class ProbePods {
  readonly #cluster: Pick<Cluster, 'reader' | 'writer'>
  readonly #namespace: string
  readonly #run: string

  constructor(cluster: Pick<Cluster, 'reader' | 'writer'>, { namespace, run }: Omit<PodIdentity, 'name'>) {
    this.#cluster = cluster
    this.#namespace = namespace
    this.#run = run
  }

  /** Throws ApiError where the server could not be asked. */
  async create(probe: Probe, name: string): Promise<Created> {
    const identity = { name, namespace: this.#namespace, run: this.#run }
    try {
      await this.#cluster.writer.create(Pods, probePod(probe, identity))
      return { is: 'made' }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const refusal = readRefusal(error.message, this.#namespace)
      if (refusal === undefined && !isRefusal(error)) throw error
      const is = refusal?.is === 'quota' ? 'full' : 'refused'
      return { is, why: `its pod may not be: ${refusal?.message ?? error.message}`, message: error.message }
    }
  }

  /** By name. */
  async mine(): Promise<ReadonlyMap<string, Pod>> {
    const pods = await this.#list(`${probeLabel}=${this.#run}`)
    return new Map(pods.map((pod) => [pod.metadata.name, pod]))
  }

  async remove({ metadata: { name, namespace, uid } }: Pod): Promise<void> {
    try {
      await this.#cluster.writer.delete(Pods, { name, namespace }, { uid })
    } catch (error) {
      if (!isNotFound(error) && !(error instanceof ApiError && error.status === 409)) throw error
    }
  }

  /** Whatever is there of this run, also what was made without an answer. */
  async removeAll(): Promise<void> {
    await Promise.all([...(await this.mine()).values()].map((pod) => this.remove(pod)))
  }

  /** Pods of runs that were killed: past their time, so that nobody waits for them. Gives how many there were. */
  async removeLeft(at: Date): Promise<number> {
    const left = (await this.#list(probeLabel)).filter((pod) => isLeft(pod, this.#run, at))
    await Promise.all(left.map((pod) => this.remove(pod)))
    return left.length
  }

  #list(labels: string): Promise<Pod[]> {
    return this.#cluster.reader.list(Pods, { namespace: this.#namespace, labels })
  }
}

/** Two clocks may differ by so much. */
const skew = 120_000

function isLeft({ metadata }: Pod, run: string, at: Date): boolean {
  const age = at.getTime() - Date.parse(metadata.creationTimestamp ?? '')
  return metadata.labels?.[probeLabel] !== run && age > pullLimit * 1000 + skew
}

/** An answer about this pod, not about the server. */
const isRefusal = ({ status }: ApiError): boolean => [400, 403, 409, 422].includes(status)

/** On every pod of a probe, with the name of its run: whatever becomes of the run, its pods are found by it. */
export const probeLabel = 'kvup.io/probe'

/** How long a pull may take, seconds: then Kubernetes ends the pod, whether kvup is still there or not. */
const pullLimit = 600

/** Which run it belongs to, and what tells its pods apart. */
interface PodIdentity {
  name: string
  namespace: string
  run: string
}

/** A program that no image has: once the image is there the pod has nothing to run, and ends. */
const nothing = '/kvup-runs-nothing'

/**
 * A pod that is pulled for and never runs: bound to its node past the scheduler, without a token, restricted by every setting of Pod Security,
 * with requests and limits, which quotas ask for.
 */
function probePod({ image, node, pulling }: Probe, { name, namespace, run }: PodIdentity): Pod {
  const { imagePullPolicy, ...secrets } = pulling
  const little = { cpu: '1m', memory: '16Mi' }
  return {
    apiVersion: Pods.apiVersion,
    kind: Pods.kind,
    metadata: {
      name,
      namespace,
      labels: { [probeLabel]: run, 'app.kubernetes.io/managed-by': 'kvup' },
    },
    spec: {
      nodeName: node,
      tolerations: [{ operator: 'Exists' }],
      restartPolicy: 'Never',
      activeDeadlineSeconds: pullLimit,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...secrets,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'probe',
          image,
          ...(imagePullPolicy && { imagePullPolicy }),
          command: [nothing],
          resources: { requests: little, limits: little },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  }
}

/** What a pod says of its pull. */
type PullSnapshot =
  | { is: 'pulled' }
  /** It is tried again, with pauses: whether that can help the words have to tell. */
  | { is: 'failing'; reason: string; message: string }
  | { is: 'ended'; why: string; message: string }
  | { is: 'waiting' }

/**
 * Only the pull counts: a container that cannot be created or started had its image. Kubelets pull before they create
 * (kubernetes pkg/kubelet/kuberuntime startContainer).
 */
export function readPull(pod: Pod): PullSnapshot {
  const { status = {} } = pod
  const container = status.containerStatuses?.[0]
  if (container && isPast(container)) return { is: 'pulled' }
  return status.phase === 'Failed' || status.phase === 'Succeeded' ? endOf(status) : waitOf(container?.state)
}

function waitOf(state: ContainerState | undefined): PullSnapshot {
  const { reason = '', message = '' } = state?.waiting ?? {}
  return isImageReason(reason) ? { is: 'failing', reason, message } : { is: 'waiting' }
}

function isPast({ state = {}, imageID }: ContainerStatus): boolean {
  const { running, terminated, waiting } = state
  if (running || imageID) return true
  if (terminated) return terminated.reason !== 'ContainerStatusUnknown'
  return created.has(waiting?.reason ?? '')
}

const created: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'PostStartHookError',
  'CrashLoopBackOff',
])

function endOf({ reason = 'Failed', message = '' }: NonNullable<Pod['status']>): PullSnapshot {
  const why = reason === 'DeadlineExceeded' ? 'it did not appear in time' : `its pod ended: ${reason}`
  return { is: 'ended', why, message }
}

type Outcome = Pick<ImageProbe, 'is' | 'why' | 'message'>

/** A pod that is gone says nothing. */
const gone: Outcome = { is: 'untried', why: 'its pod was deleted by someone else' }

/** In a few words, with the text of the container runtime. */
function refusedBy(text: string, why = pullFailure(text) ?? 'it cannot be pulled'): Outcome {
  return { is: 'refused', why, message: shorten(text) }
}

/** What no second try mends: in the words of `pullFailure`, or of the kubelet. */
const lasting: ReadonlySet<string> = new Set([
  'not found',
  'not allowed to pull it',
  'the certificate of the registry is not trusted',
  'not a valid image name',
  'InvalidImageName',
  'ErrImageNeverPull',
])

const isLasting = (why: string): boolean => lasting.has(why)
