import { type Job, Jobs } from '../../cluster/kinds/apps.ts'
import { type Pod, Pods } from '../../cluster/kinds/pods.ts'
import { type ControllerContext, control, ownedBy } from './controller.ts'
import { bearPod, podsOf } from './pods.ts'
import { recordEvent } from './record-event.ts'

const by = 'job-controller'

/** Runs one pod for each Job and writes down how it ended. */
export function runJobs(cx: ControllerContext): Promise<void> {
  return control(cx, [{ kind: Jobs }, { kind: Pods, concerns: ownedBy('Job') }], async () => {
    for (const job of await cx.reader.list(Jobs)) await advance(cx, job)
    return undefined
  })
}

async function advance(cx: ControllerContext, job: Job): Promise<void> {
  if (job.metadata.deletionTimestamp !== undefined || job.status?.completionTime !== undefined) return
  const labels = { 'batch.kubernetes.io/job-name': job.metadata.name }
  const pods = await podsOf(cx, job, labels)
  if (pods.some((pod) => pod.status?.phase === 'Succeeded')) await complete(cx, job)
  else if (pods.length === 0) await start(cx, job, labels)
}

async function start(cx: ControllerContext, job: Job, labels: Record<string, string>): Promise<Pod> {
  const pod = await bearPod(cx, job, {
    template: job.spec?.template ?? {},
    prefix: `${job.metadata.name}-`,
    labels: { ...labels, 'job-name': job.metadata.name },
  })
  await cx.writer.mergePatch(Jobs, job.metadata, { status: { active: 1, startTime: seconds(cx) } }, 'status')
  await recordEvent(cx, job, {
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: `Created pod: ${pod.metadata.name}`,
    by,
  })
  return pod
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
  await recordEvent(cx, job, { type: 'Normal', reason: 'Completed', message: 'Job completed', by })
}

const seconds = (cx: ControllerContext): string =>
  cx.clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
