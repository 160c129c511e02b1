import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { type Stage, podStatus } from './container-status.ts'
import { type ControllerContext } from './controller.ts'
import { type Faults, hits, type MachineryFaults } from './faults.ts'
import { between } from './luck.ts'
import { terminationFinalizer } from './pods.ts'
import type { Program } from './program.ts'
import { recordEvent } from './record-event.ts'

export interface KubeletContext extends ControllerContext {
  readonly faults: Faults<MachineryFaults>
  /** What a pod runs, if it is more than a name in a list. */
  readonly programOf: (pod: Pod) => Program | undefined
  /** Told of an error that is a bug of the simulator. */
  readonly broken: (error: unknown) => void
}

const by = 'kubelet'
/** How often a kubelet asks whether a fault is over. */
const look = 2000
const longestBackOff = 300_000

/**
 * A pod's life on its node, from the pull of its images to the end of its program, or to its deadline, counted from the kubelet's first sight
 * of it. `cx.signal` ends with the pod.
 */
export async function livePod(cx: KubeletContext, pod: Pod): Promise<void> {
  const limit = pod.spec?.activeDeadlineSeconds
  await (limit === undefined ? goOn(cx, pod) : goOnFor(cx, pod, limit))
}

async function goOnFor(cx: KubeletContext, pod: Pod, limit: number): Promise<void> {
  const over = new AbortController()
  const signal = AbortSignal.any([cx.signal, over.signal])
  const deadline = cx.clock.sleep(limit * 1000, signal).then(() => true)
  const life = goOn({ ...cx, signal }, pod).then(() => false)
  const isLate = await Promise.race([life, deadline]).finally(() => {
    over.abort()
    void Promise.allSettled([life, deadline])
  })
  if (isLate) await cx.writer.mergePatch(Pods, pod.metadata, { status: exceeded }, 'status')
}

const exceeded = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const

async function goOn(cx: KubeletContext, pod: Pod): Promise<void> {
  let now = pod
  const become = async (stage: Stage): Promise<void> => {
    const status = podStatus(now, stage, seconds(cx))
    now = await cx.writer.mergePatch(Pods, pod.metadata, { status }, 'status')
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
const isServing = ({ status }: Pod): boolean =>
  status?.containerStatuses?.every((c) => c.ready === true) ?? false
const seconds = (cx: ControllerContext): string =>
  cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
const imagesOf = ({ spec }: Pod): string[] => (spec?.containers ?? []).map((c) => c.image ?? '')
const waiting = (reason: string, message?: string): Stage => ({
  phase: 'Pending',
  ready: false,
  state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
})

async function nodeAnswers(cx: KubeletContext, { spec }: Pod): Promise<void> {
  const silent = (): boolean => cx.faults.on.notReady?.includes(spec?.nodeName ?? '') ?? false
  while (silent()) await cx.clock.sleep(look, cx.signal)
}

/** facts 2.4: ErrImagePull, then ImagePullBackOff with longer and longer pauses, for as long as the image is missing. */
async function pullImages(cx: KubeletContext, pod: Pod, become: Become): Promise<void> {
  const missing = () => imagesOf(pod).find((image) => pullRefusal(cx, pod, image) !== undefined)
  await cx.clock.sleep(between(cx.random, 300, 800), cx.signal)
  let pause = 10_000
  for (let image = missing(); image !== undefined; image = missing()) {
    const message = `failed to pull and unpack image "${image}": ${pullRefusal(cx, pod, image)}`
    await become(waiting('ErrImagePull', message))
    await recordEvent(cx, pod, {
      type: 'Warning',
      reason: 'Failed',
      message: `Failed to pull image "${image}": ${message}`,
      by,
    })
    await cx.clock.sleep(3000, cx.signal)
    await become(waiting('ImagePullBackOff', `Back-off pulling image "${image}"`))
    await recordEvent(cx, pod, {
      type: 'Normal',
      reason: 'BackOff',
      message: `Back-off pulling image "${image}"`,
      by,
    })
    await cx.clock.sleep(pause, cx.signal)
    pause = Math.min(pause * 2, longestBackOff)
  }
}

/** In the words of containerd; undefined where the image is there. */
function pullRefusal({ faults }: KubeletContext, { spec }: Pod, image: string): string | undefined {
  if (faults.on.pullsFailOn?.includes(spec?.nodeName ?? '') === false) return undefined
  if (hits(faults.on.unpullable, image)) return faults.on.pullWords ?? 'not found'
  const denied = 'failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized'
  return hits(faults.on.denied, image) ? denied : undefined
}

/** False when it ended for good. */
async function start(cx: KubeletContext, pod: Pod, become: Become): Promise<boolean> {
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
const hasNothingToRun = ({ spec }: Pod): boolean =>
  spec?.containers?.some(({ command: [program = ''] = [] }) => /^\/(?!usr\/|bin\/)/.test(program)) ?? false

async function crash(
  cx: KubeletContext,
  pod: Pod,
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
  await recordEvent(cx, pod, { type: 'Warning', reason: 'BackOff', message: text, by })
  await cx.clock.sleep(pause, cx.signal)
  await become({
    phase: 'Running',
    ready: false,
    restartCount: restarts,
    lastState,
    state: { running: { startedAt: seconds(cx) } },
  })
}

async function runProgram(cx: KubeletContext, pod: Pod, become: Become): Promise<void> {
  const exitCode = await cx.programOf(pod)?.(pod, cx.signal)
  if (pod.spec?.restartPolicy !== 'Never' || exitCode === undefined) return
  const startedAt = pod.status?.startTime ?? seconds(cx)
  const reason = exitCode === 0 ? 'Completed' : 'Error'
  const terminated = { exitCode, reason, startedAt, finishedAt: seconds(cx) }
  await become({ phase: exitCode === 0 ? 'Succeeded' : 'Failed', ready: false, state: { terminated } })
}

/** The end of a deleted pod: its containers get half a second, its node has to answer. */
export async function endPod(cx: KubeletContext, pod: Pod): Promise<void> {
  if (pod.spec?.nodeName !== undefined) {
    await nodeAnswers(cx, pod)
    await cx.clock.sleep(between(cx.random, 400, 600), cx.signal)
  }
  const finalizers = (pod.metadata.finalizers ?? []).filter((f) => f !== terminationFinalizer)
  await cx.writer.mergePatch(Pods, pod.metadata, { metadata: { finalizers } })
}
