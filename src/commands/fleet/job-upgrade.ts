import { configMapJournal } from '../../lib/engine/journal-config-map.ts'
import { readSealed } from '../../lib/engine/sealed-plan.ts'
import { endedBy } from '../../lib/fleet/fleet-report.ts'
import { isWell } from '../../lib/fleet/fleet-rows.ts'
import { type FleetWave, traceOf } from '../../lib/fleet/fleet-waves.ts'
import type { JobPlace } from '../../lib/job/job-objects.ts'
import { assessJob, type JobPod, type JobState } from '../../lib/job/job-state.ts'
import { minutes, seconds, ticks } from '../../lib/kube/clock.ts'
import { spanText } from '../../lib/kube/duration.ts'
import { blocked, type ExitCode, exitCode, KvupError } from '../../lib/kube/errors.ts'
import { CronJobs, type Job, Jobs } from '../../lib/kube/kinds/workload-kinds.ts'
import { isRecord, type KubeObject } from '../../lib/kube/object.ts'
import { differences } from '../../lib/kube/server-side-apply.ts'
import { shellWord, withPurpose } from '../../lib/kube/shell-line.ts'
import { counted } from '../../lib/kube/text.ts'
import { count } from '../../lib/output/text.ts'
import type { Method } from '../../lib/releases/hop-findings.ts'
import { roleFor } from '../../lib/upgrade/roles.ts'
import { applyEach, ensureOwnNamespace, jobExists } from '../job/apply-job.ts'
import { parseInnerLine } from '../job/inner-line.ts'
import { packLine } from '../job/line-files.ts'
import { composeJob, managing, pinnedImage, placeOf } from '../job/make-job.ts'
import { jobWords, podsOf, removeJob } from '../job/manage-job.ts'
import {
  type ClusterEnd,
  type ClusterRun,
  type ClusterStart,
  type ClusterUpgrades,
  observe,
  overWindows,
  plannedOf,
} from './cluster-upgrade.ts'
import { linesFor, type OpenMember, sameCluster } from './members.ts'

/** A run whose clusters are upgraded by Jobs in them. */
interface JobRun extends ClusterRun {
  image: string
  place: JobPlace
}

/** The Job of a fleet run in a cluster: there is one at a time. */
const jobName = 'kvup-fleet'

/** `--via-jobs`: each cluster carries its upgrade out itself, as with `kvup job`; from here it is begun, watched, and removed once it is done. Throws `usage` for a plan that no Job can run. */
export async function upgradesByJobs(
  of: ClusterRun,
  { image, jobNamespace }: { image: string | undefined; jobNamespace: string },
): Promise<ClusterUpgrades> {
  const place = placeOf({ name: jobName, jobNamespace })
  const run: JobRun = { ...of, image: pinnedImage(image), place }
  return {
    before: await saidBefore(run),
    upgrade: (one, wave, start) => new ClusterJob(run, one, wave).carryOut(start),
    tidy: (one, wave) => new ClusterJob(run, one, wave).tidy(),
  }
}

/** What each cluster gets, and with which rights. */
async function saidBefore(run: JobRun): Promise<readonly string[]> {
  const { plan, place, image } = run
  const roles = new Map<string, number>()
  let [most, leftOut] = [0, 0]
  for (const { wave, clusters } of plan.waves)
    for (const name of clusters) {
      const made = await objectsFor(run, { name, wave })
      roles.set(made.role, (roles.get(made.role) ?? 0) + 1)
      most = Math.max(most, made.items.length)
      leftOut = Math.max(leftOut, made.leftOut.length)
    }
  const rights = [...roles].map(([role, clusters]) => `${role} on ${counted(clusters, 'cluster')}`).join(', ')
  return [
    `Each cluster gets Job ${place.name} in namespace ${place.namespace}, by image ${image}: ${count(most, 'object')} at most`,
    `Rights of the Jobs: ${rights}; up to ${count(leftOut, 'right')} that their lines do not use are left out`,
    'Each Job is removed with its rights when its cluster is done; of one that failed its rights are removed',
  ]
}

const methods: readonly Method[] = ['image-tag', 'operator-manifest', 'olm']

/** All that one cluster gets for its line. */
async function objectsFor(
  { plan: fleet, cx, timeout, image, place }: JobRun,
  { name, wave, until = [] }: { name: string; wave: number; until?: readonly string[] },
) {
  const { plan } = plannedOf(fleet, name)
  const text = JSON.stringify(plan)
  const file = 'plan.yaml'
  const line = await parseInnerLine([
    'upgrade',
    '--plan',
    file,
    ...until,
    ...(timeout === undefined ? [] : ['--timeout', timeout]),
    '--fleet-run',
    `${fleet.seal.uid}:${wave}`,
    '--yes',
  ])
  const sealed = readSealed(text, `${fleet.file}, cluster ${name}`, 'UpgradePlan')
  const readText = async (asked: string) => (asked === file ? text : cx.world.readText(asked))
  const packed = await packLine({ readText }, line, sealed)
  // A path whose steps differ, and what is chosen there, may need all of them.
  const role = roleFor(methods.find((one) => one === plan.method) ?? 'operator-manifest')
  const { namespace } = plan.kubevirt
  return { role, ...composeJob({ line, sealed, packed }, { ...place, image, role, kubevirt: namespace }) }
}

const pollEvery = 5 * seconds
/** A pod that does not start, and a cluster that does not answer, for so long are a failure. */
const patience = 10 * minutes

/** The Job in one cluster. */
class ClusterJob {
  readonly #run: JobRun
  readonly #one: OpenMember
  readonly #wave: FleetWave
  #told = ''

  constructor(run: JobRun, one: OpenMember, wave: FleetWave) {
    this.#run = run
    this.#one = one
    this.#wave = wave
  }

  /** One that an earlier process began is watched on; what failed before is begun again. */
  async carryOut(start: ClusterStart): Promise<ClusterEnd> {
    try {
      const own = { one: this.#one }
      const work = async (until: readonly string[]) => this.#watch(await this.#begin(until))
      const job = await this.#own()
      const runs = job !== undefined && !['failed', 'complete'].includes((await this.#state(job)).is)
      if (job !== undefined && (runs || (await this.#observed()).isReached)) {
        this.#note(`goes on with Job ${job.metadata.name}, which ${runs ? 'runs' : 'is done'} already`)
        start.begins()
        const end = await this.#watch(job)
        return end === 'window-closed' ? await overWindows(this.#run, own, work) : end
      }
      return await overWindows(this.#run, { ...own, start }, work)
    } catch (error) {
      if (!(error instanceof KvupError)) throw error
      return endedBy(error)
    }
  }

  /** What is left of a Job of this cluster, which is done. What cannot be removed is a warning with the line that does. */
  async tidy(): Promise<void> {
    try {
      const job = await this.#own()
      if (job !== undefined && !['complete', 'failed'].includes((await this.#state(job)).is)) return
      await this.#remove()
    } catch (error) {
      if (!(error instanceof KvupError) || this.#run.cx.signal.aborted) throw error
      const [line = ''] = linesFor(this.#one.member, [managing('delete', this.#run.place)])
      this.#run.cx.printer.warn(
        `${this.#one.member.name}: its Job could not be removed: ${error.message}; ${line} removes it`,
      )
    }
  }

  #note(line: string): void {
    this.#run.cx.printer.note(`${this.#one.member.name}: ${line}`)
  }

  get #lines() {
    const { place } = this.#run
    return {
      status: managing('status', place),
      delete: managing('delete', place),
      logs: managing('logs', place),
    }
  }

  /** The Job that this run would make, but for its deadline. Throws `blocked` for one of another plan, image or line. */
  async #own(): Promise<Job | undefined> {
    const { place } = this.#run
    const { reader } = await sameCluster(this.#one)
    const cron = await reader.get(CronJobs, place)
    if (cron.is === 'object') throw jobExists(CronJobs, place, this.#lines)
    const found = await reader.get(Jobs, place)
    if (found.is !== 'object') return undefined
    const { deadline } = deadlineOf(found.object)
    const { items } = await this.#objects(deadline === undefined ? [] : ['--deadline', deadline])
    const wanted = items.find(({ kind }) => kind === Jobs.kind)
    const isOwn =
      wanted !== undefined && differences(wanted, found.object).length === 0 && !hasMore(wanted, found.object)
    if (isOwn) return found.object
    throw jobExists(Jobs, place, this.#lines)
  }

  #objects(until: readonly string[]) {
    return objectsFor(this.#run, { name: this.#one.member.name, wave: this.#wave.wave, until })
  }

  async #begin(until: readonly string[]): Promise<Job> {
    const { place, cx } = this.#run
    const cluster = await sameCluster(this.#one)
    const { signal } = cx
    await ensureOwnNamespace(cluster.reader, place.namespace)
    const before = await this.#own()
    if (before !== undefined) {
      const { is, why } = await this.#state(before)
      this.#note(`its Job ${is}${why === undefined ? '' : ` (${why})`}: it is made again`)
      await this.#remove()
    }
    const { items } = await this.#objects(until)
    await applyEach(cluster, items, { removes: this.#lines.delete, signal })
    const job = await this.#own()
    if (job === undefined) throw this.#gone()
    this.#note(`Job ${place.name} in namespace ${place.namespace} begins`)
    return job
  }

  async #remove(): Promise<void> {
    const cluster = await sameCluster(this.#one)
    await removeJob(cluster, this.#run.place, { signal: this.#run.cx.signal })
  }

  async #state(job: Job): Promise<JobState> {
    const { reader } = await this.#one.cx.cluster()
    return assessJob(job, await podsOf(reader, job))
  }

  #gone(): KvupError {
    const { name, namespace } = this.#run.place
    return blocked('job-gone', `somebody removed Job ${name} in namespace ${namespace} before it was done`, {
      remedy: [
        withPurpose('kvup status', 'shows where its upgrade stands'),
        withPurpose(this.#lines.delete, 'removes what is left of it'),
      ],
    })
  }

  /** Until it has ended. That the cluster does not answer for a time does not end it: the Job goes on without us. */
  async #watch(job: Job): Promise<ClusterEnd | 'window-closed'> {
    const { cx } = this.#one
    const { signal } = this.#run.cx
    const { uid } = job.metadata
    const { at: closes } = deadlineOf(job)
    let answered = ticks(cx.clock)
    let began = answered
    for (;;) {
      try {
        const { reader } = await cx.cluster()
        const found = await reader.get(Jobs, this.#run.place)
        if (found.is !== 'object' || found.object.metadata.uid !== uid) return await this.#afterGone()
        const state = await this.#state(found.object)
        answered = ticks(cx.clock)
        if (state.is !== 'waiting') began = answered
        this.#tell(state)
        if (state.is === 'complete') return await this.#complete()
        if (await this.#isPastWindow(state, closes)) {
          await this.#remove()
          return 'window-closed'
        }
        if (state.is === 'failed') return await this.#failed(state)
        if (answered - began > patience) return await this.#neverBegan(state)
      } catch (error) {
        const isLost = error instanceof KvupError && error.exitCode === exitCode.unreachable
        if (!isLost || signal.aborted) throw error
        if (ticks(cx.clock) - answered > patience)
          throw new KvupError(error.exitCode, error.reason, error.message, {
            notes: ['its Job goes on by itself'],
            remedy: error.remedy,
            cause: error,
          })
      }
      await cx.clock.sleep(pollEvery, signal)
    }
  }

  #tell({ is, why, pods: [newest] }: JobState): void {
    const line = [
      is,
      ...(newest === undefined ? [] : [newest.name]),
      ...(why === undefined ? [] : [why]),
    ].join(' ')
    if (line === this.#told) return
    this.#told = line
    this.#note(
      `Job ${jobWords[is]}${newest?.node === undefined ? '' : ` on ${newest.node}`}${why === undefined ? '' : `: ${why}`}`,
    )
  }

  /** Its pod ended because of the window: another one would only end as well. */
  async #isPastWindow({ pods: [newest] }: JobState, closes: number): Promise<boolean> {
    if (!Number.isFinite(closes) || newest?.exitCode === undefined) return false
    // One that begins only after it, for its image was long under way or its node was lost, refuses a deadline that has passed.
    const isOver = this.#one.cx.clock.now().getTime() >= closes
    if (isOver) return [exitCode.timedOut, exitCode.usage].some((code) => code === newest.exitCode)
    if (newest.exitCode !== exitCode.timedOut) return false
    return (await this.#lastDocument(newest))?.['outcome'] === 'stopped-before'
  }

  #observed(): ReturnType<typeof observe> {
    return observe(this.#run, this.#one)
  }

  /** Another process of this run removes the Job once its cluster is done. Throws `blocked` where that is not why. */
  async #afterGone(): Promise<ClusterEnd> {
    const { row, isReached } = await this.#observed()
    if ((await this.#doneAt()) === undefined || !isWell(row) || !isReached) throw this.#gone()
    return { outcome: 'done' }
  }

  /** When this run ended well here, by the journal. */
  async #doneAt(): Promise<number | undefined> {
    const { cx, member } = this.#one
    const { plan: fleet } = this.#run
    const { namespace } = plannedOf(fleet, member.name).plan.kubevirt
    const journal = configMapJournal(await sameCluster(this.#one), {
      namespace,
      who: cx.world.who,
      clock: cx.clock,
    })
    return traceOf(await journal.entries(), fleet.seal.uid).doneAt
  }

  /** The end of a Job is believed where the cluster says the same. */
  async #complete(): Promise<ClusterEnd> {
    const doneAt = await this.#doneAt()
    const { row, isReached } = await this.#observed()
    if (!isWell(row) || !isReached) {
      await this.#removeRights()
      return endedBy(
        blocked(
          'not-healthy',
          `its Job is done, and the cluster says: ${row.version ?? 'no version'}, ${row.state}${row.why === undefined ? '' : `: ${row.why}`}`,
          {
            remedy: [
              withPurpose(this.#lines.logs, 'shows what its pod said'),
              withPurpose(this.#lines.delete, 'removes it; the next run makes it again'),
            ],
          },
        ),
      )
    }
    await this.tidy()
    return { outcome: doneAt === undefined ? 'nothing-to-do' : 'done' }
  }

  async #failed({ why = 'no reason is told', pods: [newest] }: JobState): Promise<ClusterEnd> {
    const document = newest && (await this.#lastDocument(newest))
    const error = isRecord(document?.['error']) ? document['error'] : {}
    const { reason, message } = error
    const isReason = typeof reason === 'string' && /^[a-z][a-z0-9-]{0,40}$/u.test(reason)
    await this.#removeRights()
    // What a pod said is quoted. What is to be typed comes from here alone.
    return endedBy(
      new KvupError(
        codeOf(newest),
        isReason ? reason : 'job-failed',
        [`its Job failed: ${why}`, ...(typeof message === 'string' ? [message] : [])].join(': '),
        {
          remedy: [
            withPurpose(this.#lines.logs, 'shows what its last pod said'),
            withPurpose(this.#lines.delete, 'removes it; its rights are gone already'),
          ],
        },
      ),
    )
  }

  /** It would begin when nobody expects it any more. */
  async #neverBegan({ why = 'nothing was said' }: JobState): Promise<ClusterEnd> {
    await this.#remove()
    return endedBy(
      new KvupError(
        exitCode.timedOut,
        'job-not-begun',
        `the pod of its Job did not begin within ${spanText(patience)}, and the Job was removed: ${why}`,
        { remedy: withPurpose(`kubectl -n ${shellWord(this.#run.place.namespace)} get events`, 'says more') },
      ),
    )
  }

  async #removeRights(): Promise<void> {
    const cluster = await sameCluster(this.#one)
    await removeJob(cluster, this.#run.place, { only: 'rights', signal: this.#run.cx.signal })
  }

  /** The last line that is an object; undefined where the pod can no longer be read. */
  async #lastDocument({ name }: JobPod): Promise<Record<string, unknown> | undefined> {
    const { reader } = await this.#one.cx.cluster()
    const pod = { name, namespace: this.#run.place.namespace }
    const text = await reader.log(pod, { container: 'kvup', tailLines: 5 }).catch((error: unknown) => {
      if (!(error instanceof KvupError)) throw error
      return ''
    })
    for (const line of text.split('\n').toReversed()) {
      try {
        const value: unknown = JSON.parse(line)
        if (isRecord(value)) return value
      } catch {
        continue
      }
    }
    return undefined
  }
}

/** Whether somebody added to the pod what our line has no use for: containers, volumes, variables, the host itself. */
function hasMore(wanted: KubeObject, live: Job): boolean {
  const [ours, theirs] = [(wanted as Job).spec?.template?.spec, live.spec?.template?.spec] as readonly (
    | PodLike
    | undefined
  )[]
  if (theirs?.hostPID || theirs?.hostNetwork || theirs?.hostIPC) return true
  const namesIn = (pod: PodLike | undefined) =>
    [...(pod?.containers ?? []), ...(pod?.initContainers ?? [])].flatMap(({ name, env = [] }) =>
      [name].concat(env.map((variable) => `${name} ${variable.name}`)),
    )
  const volumesIn = (pod: PodLike | undefined) => (pod?.volumes ?? []).map(({ name }) => `volume ${name}`)
  const known = new Set([...namesIn(ours), ...volumesIn(ours)])
  return [...namesIn(theirs), ...volumesIn(theirs)].some((name) => !known.has(name))
}

interface PodLike {
  hostPID?: boolean
  hostNetwork?: boolean
  hostIPC?: boolean
  containers?: readonly { name: string; env?: readonly { name: string }[] }[]
  initContainers?: readonly { name: string; env?: readonly { name: string }[] }[]
  volumes?: readonly { name: string }[]
}

/** Of the container, where kvup has such a code; another one is for a person. */
function codeOf(pod: JobPod | undefined): ExitCode {
  const code = Object.values(exitCode).find((one) => one === pod?.exitCode)
  return code === undefined || code === exitCode.done ? exitCode.blocked : code
}

/** Until when the line of this Job may begin steps. */
function deadlineOf({ spec }: Job): { deadline?: string; at: number } {
  const args = spec?.template?.spec?.containers?.[0]?.args ?? []
  const at = args.indexOf('--deadline')
  const deadline = at < 0 ? undefined : args[at + 1]
  if (deadline === undefined || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/u.test(deadline)) return { at: Infinity }
  return { deadline, at: Date.parse(deadline) }
}
