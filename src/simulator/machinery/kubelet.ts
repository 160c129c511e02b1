import * as kube from '../kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { between, type ControllerContext, recordEvent, seconds, untilAborted } from './controller.ts'
import { isOver, terminationFinalizer } from './owned-pods.ts'
import { type Faults, hits, type MachineryFaults } from './machinery-faults.ts'
import type { Condition } from '../../lib/kube/object.ts'
import { Refusal } from '../api/api-refusal.ts'
import type { Store } from '../api/store.ts'
import type { SubresourceCall } from '../api/subresources.ts'

/** What a pod's container runs. Resolves with its exit code, or with undefined when it goes on until `signal`. */
export type Program = (pod: kube.Pod, signal: AbortSignal) => Promise<number | undefined>

interface KubeletContext extends ControllerContext {
  readonly faults: Faults<MachineryFaults>
  /** What a pod runs, if it is more than a name in a list. */
  readonly programOf: (pod: kube.Pod) => Program | undefined
  /** Told of an error that is a bug of the simulator. */
  readonly broken: (error: unknown) => void
}

interface PodRun {
  ending: boolean
  readonly stop: AbortController
}

const newRun = (ending: boolean): PodRun => ({ ending, stop: new AbortController() })
/** Of a pod whose program goes on by itself: there is nothing left to stop. */
const through = newRun(false)

/** Plays the kubelet of every node: starts the pods that got a node, and ends those that are deleted. */
export async function runKubelet(cx: KubeletContext): Promise<void> {
  const lives = new Map<string, PodRun>()
  cx.signal.addEventListener('abort', () => {
    for (const { stop } of lives.values()) stop.abort(cx.signal.reason)
  })
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kube.Pods, {}, cx.signal)) {
      if (cx.signal.aborted) return
      if (change.type === 'added' || change.type === 'modified') attend(cx, lives, change.object)
      else if (change.type === 'deleted') {
        const { uid = '' } = change.object.metadata
        lives.get(uid)?.stop.abort()
        lives.delete(uid)
      }
    }
  })
}

function attend(cx: KubeletContext, lives: Map<string, PodRun>, pod: kube.Pod): void {
  const { uid = '', deletionTimestamp } = pod.metadata
  const life = lives.get(uid)
  const isEnding = deletionTimestamp !== undefined
  if (isEnding ? life?.ending : life !== undefined || pod.spec?.nodeName === undefined || isOver(pod)) return
  life?.stop.abort()
  const run = newRun(isEnding)
  lives.set(uid, run)
  if (isEnding) return begin(cx, () => endPod(cx, pod))
  begin({ ...cx, signal: run.stop.signal }, async (own) => {
    await livePod(own, pod)
    if (lives.get(uid) === run) lives.set(uid, through)
  })
}

/** A pod's life goes on beside the others; what the API refuses because the pod is gone ends it. */
function begin(cx: KubeletContext, life: (cx: KubeletContext) => Promise<void>): void {
  life(cx).catch((error: unknown) => {
    if (!cx.signal.aborted && !(error instanceof ApiError)) cx.broken(error)
  })
}

const by = 'kubelet'
/** How often a kubelet asks whether a fault is over. */
const pollEvery = 2000
const longestBackOff = 300_000

/** A pod's life on its node, to the end of its program or to its deadline, counted from the kubelet's first sight of it. `cx.signal` ends with the pod. */
async function livePod(cx: KubeletContext, pod: kube.Pod): Promise<void> {
  const limit = pod.spec?.activeDeadlineSeconds
  if (limit === undefined) return goOn(cx, pod)
  const over = new AbortController()
  const signal = AbortSignal.any([cx.signal, over.signal])
  const deadline = cx.clock.sleep(limit * 1000, signal).then(() => true)
  const life = goOn({ ...cx, signal }, pod).then(() => false)
  const isLate = await Promise.race([life, deadline]).finally(() => {
    over.abort()
    void Promise.allSettled([life, deadline])
  })
  if (isLate) await cx.writer.mergePatch(kube.Pods, pod.metadata, { status: exceeded }, 'status')
}

const exceeded = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const

type SetStage = (stage: Stage) => Promise<void>

/** From the pull of its images to the end of its program. */
async function goOn(cx: KubeletContext, pod: kube.Pod): Promise<void> {
  let now = pod
  const setStage: SetStage = async (stage) => {
    const status = podStatus(now, stage, seconds(cx))
    now = await cx.writer.mergePatch(kube.Pods, pod.metadata, { status }, 'status')
  }
  const isServing = pod.status?.containerStatuses?.every(({ ready }) => ready) ?? false
  if (!isServing) {
    await nodeAnswers(cx, pod)
    await setStage(waiting('ContainerCreating'))
    await pullImages(cx, pod, setStage)
    if (!(await start(cx, pod, setStage))) return
  }
  const exitCode = await cx.programOf(now)?.(now, cx.signal)
  if (pod.spec?.restartPolicy === 'Never' && exitCode !== undefined)
    await setStage(ended(exitCode, now.status?.startTime ?? seconds(cx), seconds(cx)))
}

const imagesOf = ({ spec }: kube.Pod): string[] => (spec?.containers ?? []).map((c) => c.image ?? '')
const waiting = (reason: string, message?: string): Stage => ({
  phase: 'Pending',
  ready: false,
  state: { waiting: { reason, ...(message !== undefined && { message }) } },
})
const running = (startedAt: string, ready: boolean): Stage => ({
  phase: 'Running',
  ready,
  state: { running: { startedAt } },
})

function ended(exitCode: number, startedAt: string, finishedAt: string, reason?: string): Stage {
  const terminated = {
    exitCode,
    reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    startedAt,
    finishedAt,
  }
  return { phase: exitCode === 0 ? 'Succeeded' : 'Failed', ready: false, state: { terminated } }
}

async function nodeAnswers(cx: KubeletContext, { spec }: kube.Pod): Promise<void> {
  const isSilent = () => cx.faults.on.notReady?.includes(spec?.nodeName ?? '') ?? false
  while (isSilent()) await cx.clock.sleep(pollEvery, cx.signal)
}

/** ErrImagePull, then ImagePullBackOff with longer and longer pauses, for as long as the image is missing (facts 2.4). */
async function pullImages(cx: KubeletContext, pod: kube.Pod, setStage: SetStage): Promise<void> {
  const missing = () => imagesOf(pod).find((image) => pullRefusal(cx, pod, image) !== undefined)
  await cx.clock.sleep(between(cx.random, 300, 800) + (cx.faults.on.pullsTake ?? 0), cx.signal)
  let pause = 10_000
  for (let image = missing(); image !== undefined; image = missing()) {
    const message = `failed to pull and unpack image "${image}": ${pullRefusal(cx, pod, image)}`
    await setStage(waiting('ErrImagePull', message))
    await recordEvent(cx, pod, by, ['Warning', 'Failed', `Failed to pull image "${image}": ${message}`])
    await cx.clock.sleep(3000, cx.signal)
    const again = `Back-off pulling image "${image}"`
    await setStage(waiting('ImagePullBackOff', again))
    await recordEvent(cx, pod, by, ['Normal', 'BackOff', again])
    await cx.clock.sleep(pause, cx.signal)
    pause = Math.min(pause * 2, longestBackOff)
  }
}

/** In the words of containerd; undefined where the image is there. */
function pullRefusal({ faults }: KubeletContext, { spec }: kube.Pod, image: string): string | undefined {
  if (faults.on.pullsFailOn?.includes(spec?.nodeName ?? '') === false) return undefined
  if (hits(faults.on.unpullable, image)) return faults.on.pullWords ?? 'not found'
  const denied = 'failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized'
  return hits(faults.on.denied, image) ? denied : undefined
}

/** False when it ended for good. */
async function start(cx: KubeletContext, pod: kube.Pod, setStage: SetStage): Promise<boolean> {
  let startedAt = seconds(cx)
  const crashes = () => imagesOf(pod).some((image) => hits(cx.faults.on.crashing, image))
  if (hasNothingToRun(pod)) {
    await setStage(ended(128, startedAt, startedAt, 'StartError'))
    return false
  }
  await setStage(running(startedAt, false))
  const isOnce = pod.spec?.restartPolicy === 'Never'
  if (isOnce && crashes()) {
    await cx.clock.sleep(1000, cx.signal)
    await setStage(ended(1, startedAt, seconds(cx)))
    return false
  }
  for (let restarts = 1; crashes(); restarts++) {
    await crash(cx, pod, setStage, { restarts, startedAt })
    startedAt = seconds(cx)
  }
  await cx.clock.sleep(between(cx.random, 1000, 3000), cx.signal)
  await nodeAnswers(cx, pod)
  if (!isOnce || pod.metadata.labels?.['kubevirt.io'] === 'virt-launcher')
    await setStage(running(startedAt, true))
  return true
}

/** The programs of the images that are played lie in /usr/bin. */
const hasNothingToRun = ({ spec }: kube.Pod): boolean =>
  spec?.containers?.some(({ command: [program = ''] = [] }) => /^\/(?!usr\/|bin\/)/.test(program)) ?? false

async function crash(
  cx: KubeletContext,
  pod: kube.Pod,
  setStage: SetStage,
  { restarts, startedAt }: { restarts: number; startedAt: string },
): Promise<void> {
  await cx.clock.sleep(1000, cx.signal)
  const again = { restartCount: restarts, lastState: ended(1, startedAt, seconds(cx)).state }
  const pause = Math.min(10_000 * 2 ** (restarts - 1), longestBackOff)
  const name = pod.spec?.containers?.[0]?.name ?? ''
  const message = `back-off ${pause / 1000}s restarting failed container=${name} pod=${pod.metadata.name}`
  const state = { waiting: { reason: 'CrashLoopBackOff', message } }
  await setStage({ phase: 'Running', ready: false, ...again, state })
  const text = `Back-off restarting failed container ${name} in pod ${pod.metadata.name}`
  await recordEvent(cx, pod, by, ['Warning', 'BackOff', text])
  await cx.clock.sleep(pause, cx.signal)
  await setStage({ ...running(seconds(cx), false), ...again })
}

/** The end of a deleted pod: its containers get half a second, its node has to answer. */
async function endPod(cx: KubeletContext, pod: kube.Pod): Promise<void> {
  if (pod.spec?.nodeName !== undefined) {
    await nodeAnswers(cx, pod)
    await cx.clock.sleep(between(cx.random, 400, 600), cx.signal)
  }
  const finalizers = (pod.metadata.finalizers ?? []).filter((f) => f !== terminationFinalizer)
  await cx.writer.mergePatch(kube.Pods, pod.metadata, { metadata: { finalizers } })
}

/** Where the containers of a pod stand; all of a pod's containers are taken to go the same way. */
interface Stage {
  phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'
  state: kube.ContainerState
  ready: boolean
  lastState?: kube.ContainerState
  restartCount?: number
}

/** The status of a pod at a stage, as a kubelet would write it. `now` is RFC 3339 in whole seconds. */
export function podStatus(pod: kube.Pod, stage: Stage, now: string): NonNullable<kube.Pod['status']> {
  const { phase, state, ready, lastState, restartCount = 0 } = stage
  const hasImage = state.waiting === undefined || lastState !== undefined
  return {
    ...pod.status,
    phase,
    startTime: pod.status?.startTime ?? now,
    podIP: pod.status?.podIP ?? addressOf(pod),
    conditions: conditionsAt(pod, stage, now),
    containerStatuses: (pod.spec?.containers ?? []).map(({ name, image = '' }) => ({
      name,
      image,
      // virt-controller migrates no VM whose image has no digest.
      imageID: hasImage ? `docker-pullable://${image}@sha256:${'0'.repeat(64)}` : '',
      state,
      lastState: lastState ?? {},
      ready,
      started: state.running !== undefined,
      restartCount,
    })),
  }
}

function conditionsAt(pod: kube.Pod, { phase, ready }: Stage, now: string): Condition[] {
  const isEnd = phase === 'Succeeded' || phase === 'Failed'
  const word = ready
    ? ({ status: 'True' } as const)
    : ({ status: 'False', reason: isEnd ? 'PodCompleted' : 'ContainersNotReady' } as const)
  const wanted: Condition[] = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'ContainersReady', ...word },
    { type: 'Ready', ...word },
  ]
  return wanted.map((next) => {
    const before = pod.status?.conditions?.find((c) => c.type === next.type && c.status === next.status)
    return Object.assign(next, {
      lastProbeTime: null,
      lastTransitionTime: before?.lastTransitionTime ?? now,
    })
  })
}

function addressOf({ metadata }: kube.Pod): string {
  let sum = 7
  for (let i = 0; i < metadata.name.length; i++) sum = (sum * 31 + metadata.name.charCodeAt(i)) % 65_025
  return `10.244.${Math.floor(sum / 255)}.${(sum % 255) + 1}`
}

/** What programs have written, by the uid of their pod. */
export class PodLogs {
  readonly #lines = new Map<string, string[]>()

  say({ uid = '' }: { uid?: string | undefined }, line: object): void {
    this.#lines.set(uid, [...this.of({ uid }), JSON.stringify(line)])
  }

  of({ uid = '' }: { uid?: string | undefined }): readonly string[] {
    return this.#lines.get(uid) ?? []
  }
}

/** What `kubectl logs` shows: what the program wrote, and of a container that ended why. */
export function servePodLogs(store: Store, logs: PodLogs): void {
  store.onSubresource(kube.Pods, 'log', (call) => logOf(call, logs))
}

function logOf({ object, parameters }: SubresourceCall, logs: PodLogs): string {
  const pod: kube.Pod = object
  const { container: component = pod.spec?.containers?.[0]?.name ?? '', tailLines, previous } = parameters
  const [before, now] = endsOf(pod, component)
  if (previous === 'true' && before === undefined) {
    const message = `previous terminated container "${component}" in pod "${pod.metadata.name}" not found`
    throw new Refusal(400, 'BadRequest', message)
  }
  const began = JSON.stringify({ component, level: 'info', msg: 'started' })
  const lines = [began, ...logs.of(pod.metadata), ...lastLine(component, before ?? now)]
  return `${lines.slice(-Number(tailLines ?? lines.length)).join('\n')}\n`
}

/** How the container ended before it was started again, and how it ended for good. */
function endsOf({ status }: kube.Pod, component: string) {
  const { lastState, state } = status?.containerStatuses?.find(({ name }) => name === component) ?? {}
  return [lastState?.terminated, state?.terminated] as const
}

function lastLine(component: string, end?: { exitCode?: number; finishedAt?: string }): string[] {
  if (end === undefined) return []
  const [level, msg] =
    end.exitCode === 0 ? ['info', 'done'] : ['fatal', 'a fault of the simulator ends this container']
  return [JSON.stringify({ component, level, msg, timestamp: end.finishedAt })]
}
