import {
  type Access,
  type Cluster,
  type Found,
  objectIn,
  type Reader,
  readerWith,
  type Ref,
  type Reviewer,
  type Writer,
} from '../kube/cluster.ts'
import type { Clock } from '../kube/clock.ts'
import { filled } from '../kube/known.ts'
import { ApiError, KvupError } from '../kube/errors.ts'
import { type JournalReader, type Override, memoryJournal } from './journal.ts'
import {
  canBeHeld,
  nothingToDo,
  type Procedure,
  type Step,
  type StepContext,
  type StepState,
} from './step.ts'
import { changedFields, namedIn, type DryRunChange } from './dry-run-change.ts'
import { leftovers, without } from '../kube/server-side-apply.ts'
import { groupOf, type Kind, type KubeObject } from '../kube/object.ts'
import { type FieldChange, sameLeaf } from '../kube/field-changes.ts'
import { localWriter } from './local-writer.ts'

export interface DryRunContext {
  readonly cluster: Cluster
  readonly clock: Clock
  /** The real one: its open overrides count, and it is never written. */
  readonly journal: JournalReader
  /**
   * `server`: the API server is asked to validate and admit each change, and keeps none. `client`: nothing is sent, kvup works the
   * changes out itself. `auto`: by the server, and by kvup where it may not be asked or knows no dry run of such a change.
   */
  readonly mode: DryRunMode
  readonly signal: AbortSignal
}

/** One line of `--dry-run`. `depends`: on step `dependsOn`, so that it has no dry run. */
export interface DryRunStep extends Pick<Step, 'id' | 'title' | 'estimate' | 'risk'> {
  state: 'would-change' | 'already-so' | 'depends' | 'waits'
  change?: string
  on?: string
  dependsOn?: string
  canBeHeld?: true
  /** What becomes of which object; absent where nothing of it is known. */
  changes?: readonly DryRunChange[]
  /** Settings that are borrowed: written down, and given back later. */
  overrides?: readonly KeptValue[]
  /** Why it would not get through: a blocked step, or the server's answer to the dry run. */
  refused?: { reason: string; message: string }
}

/** A value that is kept while a setting is borrowed; none where the setting was absent. */
export interface KeptValue {
  override: string
  /** JSON pointer: `/spec/workloadUpdateStrategy/workloadUpdateMethods`. */
  path: string
  value?: unknown
  /** Id of the step that gives it back; absent where it stays borrowed at the end. */
  restoredBy?: string
}

/** What running would change now, which is nothing once the goal is reached; waits for nothing, and writes nothing that the cluster keeps. */
export async function dryRunProcedure(
  procedure: Procedure,
  cx: DryRunContext,
): Promise<readonly DryRunStep[]> {
  const { cluster, clock, signal } = cx
  const { reader, reviewer } = cluster
  const journal = memoryJournal(cx.journal)
  const reading = { reader, clock, journal }
  const steps = await procedure.steps(reading)
  if (await nothingToDo(procedure, reading)) return steps.map(alreadySo)
  const dryRunSteps: DryRunStep[] = []
  const record = () => new Recording(reader, (observed) => dryRunningBy(cx.mode, reviewer, observed))
  for (const [index, step] of steps.entries()) {
    signal.throwIfAborted()
    // What a refused step would have done is not there either: later ones are not judged by its absence.
    const changing = dryRunSteps
      .filter(({ state, refused }) => state === 'would-change' || refused !== undefined)
      .map(({ id }) => id)
    const recording = record()
    const quiet = quietly(reviewer, record().writer)
    const acting = { ...reading, reader: recording.reader, writer: recording.writer, reviewer: quiet, signal }
    dryRunSteps.push(await dryRunStep(step, changing, { acting, recording, later: steps.slice(index + 1) }))
  }
  return dryRunSteps
}

/** What a step tries before it writes is tried in a dry run as its writes are, and not shown: a client dry run sends nothing. */
const quietly = (reviewer: Cluster['reviewer'], dryRun: Cluster['writer']): Cluster['reviewer'] => ({
  can: async (access) => reviewer.can(access),
  whoAmI: async () => reviewer.whoAmI(),
  dryRun,
})

const alreadySo = (step: Step): DryRunStep => ({ ...lineOf(step), state: 'already-so' })

const lineOf = (step: Step): Omit<DryRunStep, 'state'> => {
  const { id, title, estimate, risk } = step
  return { id, title, estimate, risk, ...(canBeHeld(step) && { canBeHeld: true }) }
}

async function dryRunStep(
  step: Step,
  changing: readonly string[],
  { acting, recording, later }: { acting: StepContext; recording: Recording; later: readonly Step[] },
): Promise<DryRunStep> {
  const { id } = step
  const line = lineOf(step)
  // The change that it builds on: one that it names, or, where it only waits, the last one.
  const waits = step.apply === undefined || step.hurries
  const last = changing.at(-1)
  const builtOn = waits ? last : changing.findLast((one) => step.dependsOn?.includes(one))
  if (builtOn !== undefined) return { ...line, state: 'depends', dependsOn: builtOn }
  const state = await (step.due?.(acting) ?? step.check(acting))
  const isMoving = state.is !== 'done' && state.is !== 'todo'
  if (last !== undefined && isMoving) return { ...line, state: 'depends', dependsOn: last }
  if (state.is !== 'todo' || waits) return { ...line, ...stateOf(state) }
  const unrestored = await acting.journal.overrides()
  const refused = await refusal(() => step.apply?.(acting))
  const { changes } = recording
  const restores = later.find((other) => other.apply && other.dependsOn?.includes(id))
  const overrides = keptBy(unrestored, await acting.journal.overrides(), restores?.id)
  return {
    ...line,
    state: 'would-change',
    change: state.change,
    ...(changes.length > 0 && { changes }),
    ...(overrides.length > 0 && { overrides }),
    ...(refused && { refused }),
  }
}

const keptBy = (
  before: readonly Override[],
  after: readonly Override[],
  restoredBy: string | undefined,
): KeptValue[] =>
  after.flatMap(({ id, path, was }) => {
    if (before.some((override) => override.id === id)) return []
    const kept = { override: id, path, ...(was.present && { value: was.value }) }
    return [restoredBy === undefined ? kept : { ...kept, restoredBy }]
  })

function stateOf(state: StepState): Pick<DryRunStep, 'state' | 'on' | 'refused'> {
  if (state.is === 'done') return { state: 'already-so' }
  if (state.is === 'todo') return { state: 'waits', on: state.change }
  if (state.is !== 'blocked') return { state: 'waits', on: state.on }
  return { state: 'waits', refused: { reason: state.reason ?? 'blocked', message: state.by } }
}

async function refusal(
  apply: () => ReturnType<NonNullable<Step['apply']>> | undefined,
): Promise<DryRunStep['refused']> {
  try {
    const answer = await apply()
    return answer ? { reason: 'refused', message: answer.notApplied } : undefined
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
    return { reason: error.reason, message: error.message }
  }
}

interface DryRunObject {
  live: KubeObject | undefined
  now: KubeObject | undefined
  change: DryRunChange
}

/** What the writes of one step would change, and a reader that shows them to the step: nothing of it is kept. */
export class Recording {
  readonly writer: Writer
  readonly reader: Reader
  readonly #live: Reader
  readonly #observed = new Map<string, DryRunObject>()
  readonly #calls: DryRunChange[] = []
  #dryRunning: DryRunning

  constructor(live: Reader, dryRunning: (reader: Reader) => DryRunning) {
    this.#live = live
    this.reader = this.#reading()
    this.writer = this.#writing()
    this.#dryRunning = dryRunning(this.reader)
  }

  /** In the order of the first write of each; a write that would change nothing is none. */
  get changes(): readonly DryRunChange[] {
    const changed = [...this.#observed.values()].map(({ change }) => change)
    return [...changed.filter(({ is, fields }) => is !== 'changed' || fields.length > 0), ...this.#calls]
  }

  #reading(): Reader {
    const live = this.#live
    return readerWith(live, {
      get: async <T extends KubeObject>(kind: Kind<T>, ref: Ref): Promise<Found<T>> => {
        const observed = this.#observed.get(key(kind, ref))
        if (observed === undefined) return live.get(kind, ref)
        return observed.now === undefined
          ? { is: 'absent' }
          : { is: 'object', object: structuredClone(observed.now) as T }
      },
    })
  }

  #writing(): Writer {
    return {
      create: (kind, object) =>
        this.#write({ kind, ref: object.metadata, verbs: ['create'] }, (writer) =>
          writer.create(kind, object),
        ),
      mergePatch: (kind, ref, change, on) =>
        this.#write({ kind, ref, verbs: ['patch'], on }, (writer) =>
          writer.mergePatch(kind, ref, change, on),
        ),
      jsonPatch: (kind, ref, operations, on) =>
        this.#write({ kind, ref, verbs: ['patch'], on, buildsOn: true }, (writer) =>
          writer.jsonPatch(kind, ref, operations, on),
        ),
      apply: async (kind, object, options) => {
        const ref = object.metadata
        const before = this.#observed.get(key(kind, ref))?.now
        const act = { kind, ref, verbs: ['patch', 'create'] }
        return this.#write(act, async (writer) =>
          withoutLeftovers(await writer.apply(kind, object, options), object, before),
        )
      },
      delete: async (kind, ref, only) => {
        const asked = { kind, ref, verbs: ['delete'] }
        const { by } = await this.#dryRunning(asked, (writer) => writer.delete(kind, ref, only))
        const change = { object: namedIn(kind, ref), is: 'deleted', fields: [], by } as const
        this.#observed.set(key(kind, ref), { live: undefined, now: undefined, change })
      },
      subresource: async (kind, ref, call) => {
        const asked: Asked = { kind, ref, verbs: [verbOf(call.method)], subresource: call.name }
        const { answer, by } = await this.#dryRunning(asked, (writer) => writer.subresource(kind, ref, call))
        this.#calls.push({ object: namedIn(kind, ref), is: 'called', fields: [], by, call: call.name })
        return answer
      },
    }
  }

  async #write<T extends KubeObject>(act: Asked, write: (writer: Writer) => Promise<T>): Promise<T> {
    const { kind, ref, on } = act
    const before = this.#observed.get(key(kind, ref))
    const live = before ? before.live : await objectIn(this.#live, kind, ref)
    const { answer, by } =
      before && act.buildsOn
        ? { answer: await write(localWriter(this.reader)), by: 'client' as const }
        : await this.#dryRunning(act, write)
    const from = by === 'server' ? live : (before?.now ?? live)
    const changed = changedFields(from, answer, on === 'status')
    const isByClient =
      before?.change.by === 'client' || (by === 'client' && !(before && changed.length === 0))
    const change: DryRunChange = {
      object: namedIn(kind, ref),
      is: live === undefined ? 'created' : 'changed',
      fields: joined(before?.change.fields ?? [], changed),
      by: isByClient ? 'client' : 'server',
    }
    this.#observed.set(key(kind, ref), { live, now: stillAt(answer, live), change })
    return answer
  }
}

const key = ({ apiVersion, kind }: Kind, { namespace = '', name }: Ref): string =>
  `${apiVersion} ${kind} ${namespace}/${name}`

const verbOf = (method: 'PUT' | 'POST'): string => (method === 'PUT' ? 'update' : 'create')

/** The server knows of no takeover that it was asked for as a dry run, and leaves what goes for it. */
const withoutLeftovers = <T extends KubeObject>(answer: T, wanted: T, before: KubeObject | undefined): T =>
  before === undefined ? answer : without(answer, leftovers(wanted, before))

/**
 * What is not kept gets no new resourceVersion, and no new owners: what kubectl applied client-side owns the server's defaults as well, and
 * after a takeover they would look like leftovers.
 */
function stillAt<T extends KubeObject>(object: T, live: KubeObject | undefined): T {
  if (live === undefined) return object
  const { resourceVersion, managedFields } = live.metadata
  return { ...object, metadata: { ...object.metadata, ...filled({ resourceVersion, managedFields }) } }
}

/** What two writes after each other make of a field: the first `from`, the last `to`. */
function joined(first: readonly FieldChange[], second: readonly FieldChange[]): FieldChange[] {
  const changes = new Map(first.map((change) => [change.path, change]))
  for (const change of second) {
    const { from } = changes.get(change.path) ?? change
    const { path, to } = change
    changes.set(path, { path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
  }
  return [...changes.values()].filter(({ from, to }) => !sameLeaf(from, to))
}

/** Who works out what a change would lead to. `auto`: the server, where it can be asked, else kvup. */
type DryRunMode = 'client' | 'server' | 'auto'

interface Asked {
  kind: Kind
  ref: { name: string; namespace?: string | undefined }
  verbs: readonly string[]
  subresource?: string
  on?: 'status' | undefined
  /** It tests what an earlier write of this step has made, which the server has not kept: kvup works it out itself then. */
  buildsOn?: true
}

type DryRunning = <R>(
  asked: Asked,
  write: (writer: Writer) => Promise<R>,
) => Promise<{ answer: R; by: 'server' | 'client' }>

/** `reader` is what the step sees: with the changes that it made in this dry run. */
export function dryRunningBy(mode: DryRunMode, reviewer: Reviewer, reader: Reader): DryRunning {
  const local = localWriter(reader)
  const byClient: DryRunning = async (_, write) => ({ answer: await write(local), by: 'client' })
  const byServer: DryRunning = async (_, write) => ({
    answer: await write(reviewer.dryRun),
    by: 'server',
  })
  if (mode === 'client') return byClient
  if (mode === 'server') return byServer
  return async (asked, write) => {
    try {
      return await byServer(asked, write)
    } catch (error) {
      if (!(await cannotBeAsked(error, asked, reviewer))) throw error
      return byClient(asked, write)
    }
  }
}

/** The server answered nothing about the change itself: no right to try it, or no dry run of such a thing. */
async function cannotBeAsked(error: unknown, asked: Asked, reviewer: Reviewer): Promise<boolean> {
  if (!(error instanceof ApiError)) return error instanceof KvupError && error.reason === 'no-dry-run'
  const { status, message } = error
  if (status === 405) return true
  if (status === 400) return /not support dry[ -]?run/iu.test(message)
  return status === 403 && isOurs(asked, reviewer)
}

/** RBAC says no to us. A quota's or a policy's 403 is a refusal of the change. */
async function isOurs({ kind, ref, verbs, subresource }: Asked, reviewer: Reviewer): Promise<boolean> {
  const access: Omit<Access, 'verb'> = {
    group: groupOf(kind),
    resource: kind.plural,
    name: ref.name,
    ...(kind.namespaced && ref.namespace !== undefined && { namespace: ref.namespace }),
    ...(subresource !== undefined && { subresource }),
  }
  try {
    const answers = await Promise.all(verbs.map((verb) => reviewer.can({ verb, ...access })))
    return answers.some(({ allowed }) => !allowed)
  } catch (failure) {
    if (failure instanceof KvupError) return false
    throw failure
  }
}
