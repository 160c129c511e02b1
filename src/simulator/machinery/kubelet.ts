import * as kube from '../kinds.ts'
import { ApiError } from '../../lib/kube/errors.ts'
import { between, type ControllerContext, recordEvent, seconds, untilAborted } from './controller.ts'
import { isOver, terminationFinalizer } from './owned-pods.ts'
import { type Faults, hits, type MachineryFaults } from './machinery-faults.ts'
import type { Condition } from '../../lib/kube/object.ts'
import { Refusal } from '../api/api-refusal.ts'
import type { Store } from '../api/store.ts'
import type { SubresourceCall } from '../api/subresources.ts'

interface PodRun {
  ending: boolean
  readonly stop: AbortController
}

/** Plays the kubelet of every node: starts the pods that got a node, and ends those that are deleted. */
export async function runKubelet(cx: KubeletContext): Promise<void> {
  const lives = new Map<string, PodRun>()
  cx.signal.addEventListener('abort', () => {
    for (const { stop } of lives.values()) stop.abort(cx.signal.reason)
  })
  await untilAborted(cx.signal, async () => {
    for await (const change of cx.reader.watch(kube.Pods, {}, cx.signal)) {
      if (cx.signal.aborted) return
      if (change.type === 'deleted') forget(lives, change.object)
      else if (change.type === 'added' || change.type === 'modified') attend(cx, lives, change.object)
    }
  })
}

const through: PodRun = { ending: false, stop: new AbortController() }

function forget(lives: Map<string, PodRun>, { metadata }: kube.Pod): void {
  const uid = metadata.uid ?? ''
  lives.get(uid)?.stop.abort()
  lives.delete(uid)
}

function attend(cx: KubeletContext, lives: Map<string, PodRun>, pod: kube.Pod): void {
  const uid = pod.metadata.uid ?? ''
  const life = lives.get(uid)
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (life?.ending === true) return
    life?.stop.abort()
    lives.set(uid, { ending: true, stop: new AbortController() })
    begin(cx, () => endPod(cx, pod))
  } else if (pod.spec?.nodeName !== undefined && life === undefined && !isOver(pod)) {
    const run = { ending: false, stop: new AbortController() }
    lives.set(uid, run)
    begin({ ...cx, signal: run.stop.signal }, async (own) => {
      await livePod(own, pod)
      // It goes on by itself: there is nothing left to stop.
      if (lives.get(uid) === run) lives.set(uid, through)
    })
  }
}

/** A pod's life goes on beside the others; what the API refuses because the pod is gone ends it. */
function begin(cx: KubeletContext, life: (cx: KubeletContext) => Promise<void>): void {
  life(cx).catch((error: unknown) => {
    if (!cx.signal.aborted && !(error instanceof ApiError)) cx.broken(error)
  })
}

/** What a pod's container runs. Resolves with its exit code, or with undefined when it goes on until `signal`. */
export type Program = (pod: kube.Pod, signal: AbortSignal) => Promise<number | undefined>

interface KubeletContext extends ControllerContext {
  readonly faults: Faults<MachineryFaults>
  /** What a pod runs, if it is more than a name in a list. */
  readonly programOf: (pod: kube.Pod) => Program | undefined
  /** Told of an error that is a bug of the simulator. */
  readonly broken: (error: unknown) => void
}

const by = 'kubelet'
/** How often a kubelet asks whether a fault is over. */
const pollEvery = 2000
const longestBackOff = 300_000

/**
 * A pod's life on its node, from the pull of its images to the end of its program, or to its deadline, counted from the kubelet's first sight
 * of it. `cx.signal` ends with the pod.
 */
async function livePod(cx: KubeletContext, pod: kube.Pod): Promise<void> {
  const limit = pod.spec?.activeDeadlineSeconds
  await (limit === undefined ? goOn(cx, pod) : goOnFor(cx, pod, limit))
}

async function goOnFor(cx: KubeletContext, pod: kube.Pod, limit: number): Promise<void> {
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

async function goOn(cx: KubeletContext, pod: kube.Pod): Promise<void> {
  let now = pod
  const become = async (stage: Stage): Promise<void> => {
    const status = podStatus(now, stage, seconds(cx))
    now = await cx.writer.mergePatch(kube.Pods, pod.metadata, { status }, 'status')
  }
  if (!isServing(pod)) {
    await nodeAnswers(cx, pod)
    await become(waiting('ContainerCreating'))
    await pullImages(cx, pod, become)
    if (!(await start(cx, pod, become))) return
  }
  await runProgram(cx, now, become)
}

type Become = (stage: Stage) => Promise<void>
const isServing = ({ status }: kube.Pod): boolean =>
  status?.containerStatuses?.every((c) => c.ready === true) ?? false
const imagesOf = ({ spec }: kube.Pod): string[] => (spec?.containers ?? []).map((c) => c.image ?? '')
const waiting = (reason: string, message?: string): Stage => ({
  phase: 'Pending',
  ready: false,
  state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
})

async function nodeAnswers(cx: KubeletContext, { spec }: kube.Pod): Promise<void> {
  const silent = (): boolean => cx.faults.on.notReady?.includes(spec?.nodeName ?? '') ?? false
  while (silent()) await cx.clock.sleep(pollEvery, cx.signal)
}

/** ErrImagePull, then ImagePullBackOff with longer and longer pauses, for as long as the image is missing (facts 2.4). */
async function pullImages(cx: KubeletContext, pod: kube.Pod, become: Become): Promise<void> {
  const missing = () => imagesOf(pod).find((image) => pullRefusal(cx, pod, image) !== undefined)
  await cx.clock.sleep(between(cx.random, 300, 800) + (cx.faults.on.pullsTake ?? 0), cx.signal)
  let pause = 10_000
  for (let image = missing(); image !== undefined; image = missing()) {
    const message = `failed to pull and unpack image "${image}": ${pullRefusal(cx, pod, image)}`
    await become(waiting('ErrImagePull', message))
    await recordEvent(cx, pod, by, ['Warning', 'Failed', `Failed to pull image "${image}": ${message}`])
    await cx.clock.sleep(3000, cx.signal)
    await become(waiting('ImagePullBackOff', `Back-off pulling image "${image}"`))
    await recordEvent(cx, pod, by, ['Normal', 'BackOff', `Back-off pulling image "${image}"`])
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
async function start(cx: KubeletContext, pod: kube.Pod, become: Become): Promise<boolean> {
  let startedAt = seconds(cx)
  const crashes = () => imagesOf(pod).some((image) => hits(cx.faults.on.crashing, image))
  if (hasNothingToRun(pod)) {
    const terminated = { exitCode: 128, reason: 'StartError', startedAt, finishedAt: startedAt }
    await become({ phase: 'Failed', ready: false, state: { terminated } })
    return false
  }
  await become({ phase: 'Running', ready: false, state: { running: { startedAt } } })
  if (pod.spec?.restartPolicy === 'Never' && crashes()) {
    await cx.clock.sleep(1000, cx.signal)
    const terminated = { exitCode: 1, reason: 'Error', startedAt, finishedAt: seconds(cx) }
    await become({ phase: 'Failed', ready: false, state: { terminated } })
    return false
  }
  for (let restarts = 1; crashes(); restarts++) {
    await crash(cx, pod, become, { restarts, startedAt })
    startedAt = seconds(cx)
  }
  await cx.clock.sleep(between(cx.random, 1000, 3000), cx.signal)
  await nodeAnswers(cx, pod)
  if (pod.spec?.restartPolicy !== 'Never' || pod.metadata.labels?.['kubevirt.io'] === 'virt-launcher') {
    await become({ phase: 'Running', ready: true, state: { running: { startedAt } } })
  }
  return true
}

/** The programs of the images that are played lie in /usr/bin. */
const hasNothingToRun = ({ spec }: kube.Pod): boolean =>
  spec?.containers?.some(({ command: [program = ''] = [] }) => /^\/(?!usr\/|bin\/)/.test(program)) ?? false

async function crash(
  cx: KubeletContext,
  pod: kube.Pod,
  become: Become,
  { restarts, startedAt }: { restarts: number; startedAt: string },
): Promise<void> {
  await cx.clock.sleep(1000, cx.signal)
  const lastState = { terminated: { exitCode: 1, reason: 'Error', startedAt, finishedAt: seconds(cx) } }
  const pause = Math.min(10_000 * 2 ** (restarts - 1), longestBackOff)
  const name = pod.spec?.containers?.[0]?.name ?? ''
  const message = `back-off ${pause / 1000}s restarting failed container=${name} pod=${pod.metadata.name}`
  const state = { waiting: { reason: 'CrashLoopBackOff', message } }
  await become({ phase: 'Running', ready: false, restartCount: restarts, lastState, state })
  const text = `Back-off restarting failed container ${name} in pod ${pod.metadata.name}`
  await recordEvent(cx, pod, by, ['Warning', 'BackOff', text])
  await cx.clock.sleep(pause, cx.signal)
  await become({
    phase: 'Running',
    ready: false,
    restartCount: restarts,
    lastState,
    state: { running: { startedAt: seconds(cx) } },
  })
}

async function runProgram(cx: KubeletContext, pod: kube.Pod, become: Become): Promise<void> {
  const exitCode = await cx.programOf(pod)?.(pod, cx.signal)
  if (pod.spec?.restartPolicy !== 'Never' || exitCode === undefined) return
  const startedAt = pod.status?.startTime ?? seconds(cx)
  const reason = exitCode === 0 ? 'Completed' : 'Error'
  const terminated = { exitCode, reason, startedAt, finishedAt: seconds(cx) }
  await become({ phase: exitCode === 0 ? 'Succeeded' : 'Failed', ready: false, state: { terminated } })
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
  const ready = conditionsAt(pod, stage, now)
  return {
    ...pod.status,
    phase: stage.phase,
    startTime: pod.status?.startTime ?? now,
    podIP: pod.status?.podIP ?? addressOf(pod),
    conditions: ready,
    containerStatuses: (pod.spec?.containers ?? []).map((container) => containerStatus(container, stage)),
  }
}

function containerStatus(container: kube.Container, stage: Stage): kube.ContainerStatus {
  const image = container.image ?? ''
  const running = stage.state.running !== undefined
  return {
    name: container.name,
    image,
    imageID: stage.state.waiting === undefined || stage.lastState !== undefined ? imageId(image) : '',
    state: stage.state,
    lastState: stage.lastState ?? {},
    ready: stage.ready,
    started: running,
    restartCount: stage.restartCount ?? 0,
  }
}

/** virt-controller migrates no VM whose image has no digest. */
const imageId = (image: string): string => `docker-pullable://${image}@sha256:${'0'.repeat(64)}`

function conditionsAt(pod: kube.Pod, { phase, ready }: Stage, now: string): Condition[] {
  const over = phase === 'Succeeded' || phase === 'Failed'
  const reason = over ? 'PodCompleted' : 'ContainersNotReady'
  const word = ready ? 'True' : 'False'
  const wanted: Condition[] = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'ContainersReady', status: word, ...(ready ? {} : { reason }) },
    { type: 'Ready', status: word, ...(ready ? {} : { reason }) },
  ]
  const timed = (next: Condition): Condition => {
    const before = pod.status?.conditions?.find((c) => c.type === next.type && c.status === next.status)
    return { ...next, lastProbeTime: null, lastTransitionTime: before?.lastTransitionTime ?? now }
  }
  return wanted.map(timed)
}

function addressOf({ metadata }: kube.Pod): string {
  let sum = 7
  for (let i = 0; i < metadata.name.length; i++) sum = (sum * 31 + metadata.name.charCodeAt(i)) % 65_025
  return `10.244.${Math.floor(sum / 255)}.${(sum % 255) + 1}`
}

/** What programs have said, by the uid of their pod. */
export class PodLogs {
  readonly #lines = new Map<string, string[]>()

  say({ uid = '' }: { uid?: string | undefined }, line: object): void {
    const lines = this.#lines.get(uid) ?? []
    lines.push(JSON.stringify(line))
    this.#lines.set(uid, lines)
  }

  of({ uid = '' }: { uid?: string | undefined }): readonly string[] {
    return this.#lines.get(uid) ?? []
  }
}

/** What `kubectl logs` shows: what the program said, and of a container that ended why. */
export function servePodLogs(store: Store, logs: PodLogs): void {
  store.onSubresource(kube.Pods, 'log', (call) => logOf(call, logs))
}

function logOf({ object, parameters }: SubresourceCall, logs: PodLogs): string {
  const pod: kube.Pod = object
  const component = parameters['container'] ?? pod.spec?.containers?.[0]?.name ?? ''
  const ended = endOf(pod, component)
  if (parameters['previous'] === 'true' && !ended?.again) throw noPrevious(component, pod.metadata.name)
  const lines = [
    JSON.stringify({ component, level: 'info', msg: 'started' }),
    ...logs.of(pod.metadata),
    ...(ended ? [lastWords(component, ended)] : []),
  ]
  return tail(lines, parameters['tailLines'])
}

const tail = (lines: readonly string[], most: string | undefined): string =>
  `${lines.slice(-Number(most ?? lines.length)).join('\n')}\n`

interface End {
  exitCode?: number
  finishedAt?: string
  /** It was started again since. */
  again: boolean
}

function endOf({ status }: kube.Pod, component: string): End | undefined {
  const { state, lastState } = status?.containerStatuses?.find(({ name }) => name === component) ?? {}
  const ended = lastState?.terminated ?? state?.terminated
  return ended && { ...ended, again: lastState?.terminated !== undefined }
}

function lastWords(component: string, { exitCode, finishedAt: timestamp }: End): string {
  const well = exitCode === 0
  const msg = well ? 'done' : 'a fault of the simulator ends this container'
  return JSON.stringify({ component, level: well ? 'info' : 'fatal', msg, timestamp })
}

const noPrevious = (container: string, pod: string): Refusal =>
  new Refusal(400, 'BadRequest', `previous terminated container "${container}" in pod "${pod}" not found`)
