import { type Job, Jobs, type Pod, Pods } from '../../lib/kube/kinds/workload-kinds.ts'
import { condition } from '../../lib/kube/object.ts'
import { control, type ControllerContext, ownedBy, recordEvent, seconds } from './controller.ts'
import { createPod, podsOf } from './owned-pods.ts'

const by = 'job-controller'

/** Runs one pod for each Job and writes down how it ended. */
export function runJobs(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: Jobs }, { kind: Pods, concerns: ownedBy('Job') }], async () => {
    const again: number[] = []
    for (const job of await cx.reader.list(Jobs)) again.push(...(await advance(cx, job)))
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** In how many ms to look again. */
async function advance(cx: ControllerContext, job: Job): Promise<number[]> {
  if (job.metadata.deletionTimestamp !== undefined) return []
  if (isOver(job)) return await clear(cx, job)
  const labels = { 'batch.kubernetes.io/job-name': job.metadata.name }
  const pods = await podsOf(cx, job, labels)
  const failed = pods.filter((pod) => pod.status?.phase === 'Failed')
  if (pods.some((pod) => pod.status?.phase === 'Succeeded')) await complete(cx, job)
  else if (failed.length > (job.spec?.backoffLimit ?? 6)) await giveUp(cx, job, failed.length)
  else if (failed.length === pods.length) return await next(cx, job, { labels, failed })
  return []
}

const isOver = (job: Job): boolean =>
  job.status?.completionTime !== undefined || condition(job, 'Failed')?.status === 'True'

/** A Job that is over goes when its time to live has passed, where it has one. */
async function clear(cx: ControllerContext, job: Job): Promise<number[]> {
  const { ttlSecondsAfterFinished: ttl } = job.spec ?? {}
  const ended = job.status?.completionTime ?? condition(job, 'Failed')?.lastTransitionTime
  if (ttl === undefined || ended === undefined) return []
  const left = Date.parse(ended) + ttl * 1000 - cx.clock.now().getTime()
  if (left > 0) return [left]
  await cx.writer.delete(Jobs, job.metadata)
  return []
}

/** The next pod, after a pause that doubles with each one that failed. */
async function next(
  cx: ControllerContext,
  job: Job,
  { labels, failed }: { labels: Record<string, string>; failed: readonly Pod[] },
): Promise<number[]> {
  const ends = failed.map((pod) =>
    Date.parse(pod.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? ''),
  )
  const due =
    failed.length === 0 ? 0 : Math.max(...ends) + Math.min(10_000 * 2 ** (failed.length - 1), 360_000)
  const wait = due - cx.clock.now().getTime()
  if (wait > 0) return [wait]
  await start(cx, job, { labels, failed: failed.length })
  return []
}

async function giveUp(cx: ControllerContext, job: Job, failed: number): Promise<void> {
  const at = seconds(cx)
  const why = { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' }
  const ended = { type: 'Failed', status: 'True', ...why, lastTransitionTime: at, lastProbeTime: at } as const
  await cx.writer.mergePatch(
    Jobs,
    job.metadata,
    { status: { active: 0, failed, conditions: [ended] } },
    'status',
  )
  await recordEvent(cx, job, by, ['Warning', why.reason, why.message])
}

async function start(
  cx: ControllerContext,
  job: Job,
  { labels, failed }: { labels: Record<string, string>; failed: number },
): Promise<void> {
  const pod = await createPod(cx, job, {
    template: job.spec?.template ?? {},
    prefix: `${job.metadata.name}-`,
    labels: { ...labels, 'job-name': job.metadata.name },
    by,
  })
  const startTime = job.status?.startTime ?? seconds(cx)
  const status = { active: 1, startTime, ...(failed > 0 && { failed }) }
  await cx.writer.mergePatch(Jobs, job.metadata, { status }, 'status')
  await recordEvent(cx, job, by, ['Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`])
}

async function complete(cx: ControllerContext, job: Job): Promise<void> {
  const at = seconds(cx)
  const reached = {
    status: 'True',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
    lastTransitionTime: at,
    lastProbeTime: at,
  } as const
  const conditions = [
    { type: 'SuccessCriteriaMet', ...reached },
    { type: 'Complete', ...reached },
  ]
  const status = { active: 0, succeeded: 1, completionTime: at, conditions }
  await cx.writer.mergePatch(Jobs, job.metadata, { status }, 'status')
  await recordEvent(cx, job, by, ['Normal', 'Completed', 'Job completed'])
}
