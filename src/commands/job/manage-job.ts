import type { Context } from '../../context.ts'
import {
  grantName,
  isOwnObject,
  jobSelector,
  type JobPlace,
  lineAnnotation,
} from '../../lib/job/job-objects.ts'
import {
  assessCronJob,
  assessJob,
  exitText,
  type JobPod,
  type JobState,
  ownedBy,
} from '../../lib/job/job-state.ts'
import type { Cluster, Reader, Writer } from '../../lib/kube/cluster.ts'
import { blocked, type ExitCode, exitCode, isNotFound, usageError } from '../../lib/kube/errors.ts'
import { ConfigMaps } from '../../lib/kube/kinds/core-kinds.ts'
import {
  ClusterRoleBindings,
  ClusterRoles,
  RoleBindings,
  Roles,
  ServiceAccounts,
} from '../../lib/kube/kinds/extension-kinds.ts'
import {
  type CronJob,
  CronJobs,
  type Job,
  Jobs,
  type Pod,
  Pods,
} from '../../lib/kube/kinds/workload-kinds.ts'
import type { Kind, KubeObject } from '../../lib/kube/object.ts'
import { shellWord, withPurpose } from '../../lib/kube/shell-line.ts'
import type { Document, Paint, View } from '../../lib/output/printer.ts'
import { count } from '../../lib/output/text.ts'
import { managing, placeOf, type PlaceOptions } from './make-job.ts'

export type StatusOptions = PlaceOptions

export interface LogsOptions extends PlaceOptions {
  pod?: string
  tail?: string
}

export interface DeleteOptions extends PlaceOptions {
  accept: readonly string[]
}

interface JobStatusDocument extends Document {
  kind: 'JobStatus'
  name: string
  namespace: string
  /** As its annotation has it: anybody who may write the Job could have changed it. */
  line: string
  image: string
  state: JobState['is']
  why?: string
  pods: readonly JobPod[]
  next: readonly string[]
}

/** `kvup job status`. Throws `blocked` where there is none. */
export async function jobStatus(cx: Context, options: StatusOptions): Promise<ExitCode> {
  const place = placeOf(options)
  const { reader } = await cx.cluster()
  const found = await findJob(reader, place)
  const state = await stateOf(reader, found)
  const document: JobStatusDocument = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'JobStatus',
    ...place,
    ...whatRuns(found),
    state: state.is,
    ...(state.why !== undefined && { why: state.why }),
    pods: state.pods,
    next: nextLines(state, place),
  }
  cx.printer.result(document, statusView)
  return exitCode.done
}

interface FoundJob {
  cron?: CronJob
  /** Of a CronJob the newest that it made. */
  job?: Job
}

function whatRuns({ cron, job }: FoundJob): Pick<JobStatusDocument, 'line' | 'image'> {
  const spec = cron === undefined ? job?.spec : cron.spec?.jobTemplate?.spec
  return {
    line: (cron ?? job)?.metadata.annotations?.[lineAnnotation] ?? '',
    image: spec?.template?.spec?.containers?.[0]?.image ?? '',
  }
}

async function findJob(reader: Reader, place: JobPlace): Promise<FoundJob> {
  const [job, cron] = await Promise.all([reader.get(Jobs, place), reader.get(CronJobs, place)])
  if (cron.is === 'object') {
    const [newest] = ownedBy(cron.object, await reader.list(Jobs, { namespace: place.namespace }))
    return { cron: cron.object, ...(newest && { job: newest }) }
  }
  if (job.is === 'object') return { job: job.object }
  throw blocked('no-job', `there is no Job ${place.name} in namespace ${place.namespace}`, {
    object: `jobs/${place.name} in namespace ${place.namespace}`,
    remedy: withPurpose(
      'kubectl get jobs,cronjobs -A -l app.kubernetes.io/managed-by=kvup',
      'lists those of kvup',
    ),
  })
}

async function stateOf(reader: Reader, { cron, job }: FoundJob): Promise<JobState> {
  if (job === undefined) return assessCronJob(cron as CronJob)
  return assessJob(job, await podsOf(reader, job))
}

/** Those that a Job has made, and that are still there. */
export function podsOf(reader: Reader, { metadata: { name, namespace } }: Job): Promise<Pod[]> {
  const labels = `batch.kubernetes.io/job-name=${name}`
  return reader.list(Pods, { ...(namespace !== undefined && { namespace }), labels })
}

function nextLines({ is }: JobState, place: JobPlace): string[] {
  const logs = withPurpose(managing('logs', place), 'shows what its last pod said')
  const removes = withPurpose(managing('delete', place), 'removes it, with its rights')
  if (is === 'complete') return [removes, withPurpose('kvup history', 'shows the run')]
  if (is === 'failed') return [logs, removes]
  if (is === 'running' || is === 'retrying') return [logs, withPurpose('kvup status -w', 'watches KubeVirt')]
  if (is === 'node-lost') return [withPurpose('kubectl get nodes', 'shows which node does not answer')]
  return is === 'scheduled'
    ? [removes]
    : [withPurpose(`kubectl -n ${shellWord(place.namespace)} get events`, 'says more')]
}

/** What a person calls the state of a Job, behind its name. */
export const jobWords: Readonly<Record<JobState['is'], string>> = {
  waiting: 'waits for its pod',
  running: 'runs',
  'node-lost': 'lost its node',
  retrying: 'goes on with another pod',
  complete: 'is done',
  failed: 'failed',
  scheduled: 'is scheduled',
}

const statusView: View<JobStatusDocument> = {
  text({ name, namespace, line, state, why, pods, next }, paint) {
    return [
      `Job ${name} in namespace ${namespace} ${toned(state, paint)}${why === undefined ? '' : `: ${why}`}`,
      ...(line === '' ? [] : [`  line: ${line}`]),
      ...pods.map((pod) => `  pod ${podText(pod)}`),
      ...next.map((command) => `${paint.mark.next} ${command}`),
    ]
  },
  names: ({ name }) => [`job.batch/${name}`],
}

function toned(state: JobState['is'], paint: Paint): string {
  if (state === 'failed') return paint.bad(jobWords[state].toUpperCase())
  if (state === 'node-lost' || state === 'retrying') return paint.warn(jobWords[state])
  return state === 'complete' ? paint.good(jobWords[state]) : jobWords[state]
}

const podText = ({ name, node, phase, exitCode: code, why }: JobPod): string =>
  [
    name,
    phase,
    ...(code === undefined ? [] : [exitText(code)]),
    ...(node === undefined ? [] : [`on ${node}`]),
    ...(why === undefined ? [] : [`(${why})`]),
  ].join('  ')

interface JobLogsDocument extends Document {
  kind: 'JobLogs'
  name: string
  namespace: string
  pod: string
  lines: readonly string[]
}

/** `kvup job logs`: of its newest pod, or of one by its name. */
export async function jobLogs(cx: Context, options: LogsOptions): Promise<ExitCode> {
  const place = placeOf(options)
  const tailLines = tailOf(options.tail)
  const { reader } = await cx.cluster()
  const state = await stateOf(reader, await findJob(reader, place))
  const pod = options.pod ?? state.pods[0]?.name
  if (pod === undefined)
    throw blocked('no-pod', `Job ${place.name} has no pod yet: ${state.why ?? 'nothing was said'}`, {
      remedy: withPurpose(managing('status', place), 'says what it waits for'),
    })
  if (!state.pods.some(({ name }) => name === pod))
    throw usageError('no-such-pod', `${shellWord(pod)} is no pod of Job ${place.name}`, {
      remedy: withPurpose(managing('status', place), 'names its pods'),
    })
  const { namespace } = place
  const text = await reader.log(
    { name: pod, namespace },
    { container: 'kvup', signal: cx.signal, ...(tailLines !== undefined && { tailLines }) },
  )
  const lines = text.split('\n').filter((line) => line !== '')
  cx.printer.result<JobLogsDocument>(
    { apiVersion: 'kvup.io/v1alpha1', kind: 'JobLogs', ...place, pod, lines },
    { text: (document) => document.lines, names: (document) => [`pod/${document.pod}`] },
  )
  return exitCode.done
}

function tailOf(typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined
  if (/^\d{1,6}$/u.test(typed)) return Number(typed)
  throw usageError('tail', `--tail takes a number of lines, not ${JSON.stringify(typed)}`)
}

interface JobDeletedDocument extends Document {
  kind: 'JobDeleted'
  name: string
  namespace: string
  /** `clusterrolebindings/kvup-run:kvup-upgrade`, in the order in which they went. */
  deleted: readonly string[]
}

/** `kvup job delete`: the Job first, then its rights, account and files. The journal stays. Throws `blocked` while it runs. */
export async function deleteJob(cx: Context, options: DeleteOptions): Promise<ExitCode> {
  const place = placeOf(options)
  for (const id of options.accept)
    if (id !== running)
      throw usageError(
        'unknown-risk',
        `${JSON.stringify(id)} is no risk of kvup job delete: there is ${running}`,
      )
  const { reader, writer } = await cx.cluster()
  const found = await objectsOf(reader, place)
  if (found.length === 0) await findJob(reader, place)
  await ensureIdle(reader, place, found, options)
  const what = found.map(nameOf)
  cx.printer.note(`removes ${what.join(', ')}; the journal remains`)
  if (!(await cx.prompt.confirm(`Delete ${count(found.length, 'object')} of Job ${place.name}?`)))
    throw blocked('answered-no', 'Canceled. Nothing was changed.')
  await removeEach(writer, found, cx.signal)
  cx.printer.result<JobDeletedDocument>(
    { apiVersion: 'kvup.io/v1alpha1', kind: 'JobDeleted', ...place, deleted: what },
    deletedView,
  )
  return exitCode.done
}

/** In their order; what is gone already is gone. */
async function removeEach(writer: Writer, found: readonly Owned[], signal: AbortSignal): Promise<void> {
  for (const { kind, object } of found) {
    signal.throwIfAborted()
    const { name, namespace, uid } = object.metadata
    await writer.delete(kind, { name, namespace }, { uid }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
  }
}

/** Removes a Job with all that is its own, or its bindings and roles alone: then its pods can still be read. How many objects went. */
export async function removeJob(
  { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
  place: JobPlace,
  { only, signal }: { only?: 'rights'; signal: AbortSignal },
): Promise<number> {
  const all = await objectsOf(reader, place)
  const found = only === undefined ? all : all.filter(({ kind }) => grants.has(kind))
  await removeEach(writer, found, signal)
  return found.length
}

const grants: ReadonlySet<Kind> = new Set<Kind>([ClusterRoleBindings, RoleBindings, ClusterRoles, Roles])

const deletedView: View<JobDeletedDocument> = {
  text: ({ name, namespace, deleted }, paint) => [
    `${paint.good(paint.mark.done)} Job ${name} is removed with its rights: ${count(deleted.length, 'object')}. The journal remains (kvup history)`,
    `Namespace ${namespace} remains: delete it by hand if nothing else is in it.`,
  ],
  names: ({ deleted }) => deleted,
}

const running = 'job-running'

async function ensureIdle(
  reader: Reader,
  place: JobPlace,
  found: readonly Owned[],
  { accept }: DeleteOptions,
): Promise<void> {
  if (accept.includes(running) || !found.some(({ kind }) => kind === Jobs || kind === CronJobs)) return
  const state = await stateOf(reader, await findJob(reader, place))
  if (!['running', 'node-lost', 'retrying', 'waiting'].includes(state.is)) return
  throw blocked(
    running,
    `Job ${place.name} runs: without it KubeVirt updates on, and what kvup changed for a time is not restored`,
    {
      object: `jobs/${place.name} in namespace ${place.namespace}`,
      remedy: [
        withPurpose(managing('status', place), 'shows how far it is'),
        withPurpose(`${managing('delete', place)} --accept ${running}`, 'ends it anyway'),
      ],
    },
  )
}

interface Owned {
  kind: Kind
  object: KubeObject
}

const nameOf = ({ kind, object: { metadata } }: Owned): string =>
  `${kind.plural}/${metadata.name}${metadata.namespace === undefined ? '' : ` in ${metadata.namespace}`}`

/**
 * By name and label both: who can write a label cannot make kvup delete anything else by it. The Job goes first, so that no pod of it is left without rights; then its bindings, before the roles.
 */
async function objectsOf(reader: Reader, place: JobPlace): Promise<Owned[]> {
  const labels = jobSelector(place)
  const grant = grantName(place)
  const isGrant = ({ metadata: { name } }: KubeObject) => name === grant || name === `${grant}:catalog`
  const isNamed = ({ metadata: { name } }: KubeObject) => name === place.name
  const { namespace } = place
  const parts: readonly (readonly [Kind, { namespace?: string }, (object: KubeObject) => boolean])[] = [
    [CronJobs, { namespace }, isNamed],
    [Jobs, { namespace }, isNamed],
    [ClusterRoleBindings, {}, isGrant],
    [RoleBindings, {}, isGrant],
    [ClusterRoles, {}, isGrant],
    [Roles, {}, isGrant],
    [ConfigMaps, { namespace }, ({ metadata: { name } }) => name.startsWith(`${place.name}-`)],
    [ServiceAccounts, { namespace }, isNamed],
  ]
  const all: Owned[] = []
  for (const [kind, where, isMine] of parts)
    for (const object of await reader.list<KubeObject>(kind, { ...where, labels }))
      if (isMine(object) && isOwnObject(object)) all.push({ kind, object })
  return all
}
