import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../kube/object.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import { closeNoted, ownersNow, removingNotes, restoringByName, savingNote } from '../../engine/overrides.ts'
import type { Override } from '../../engine/journal.ts'
import type { NotApplied, ReadContext, Step, StepContext, StepState, Watched } from '../../engine/step.ts'
import { blocked } from '../../kube/errors.ts'
import { minutes, seconds } from '../../kube/clock.ts'
import {
  type Borrowable,
  fieldOfOverride,
  getOverridden,
  keptText,
  nameOfOverridden,
  overrideNamed,
  showsOverridden,
  valueText,
  whatIs,
} from './eus-settings.ts'
import type { Meanwhile } from '../../vms/pause-updates.ts'
import type { Reader } from '../../kube/cluster.ts'
import { type MachineConfigPool, MachineConfigPools } from '../../kube/kinds/openshift-kinds.ts'
import { isMasterPool } from '../../openshift/machine-config-pools.ts'
import { keptMethods, methodsOf, methodsText, overrideId, type Owner } from '../../vms/update-methods.ts'
import { type Baseline, keptBaseline } from '../baseline.ts'
import { nameOf, readOwner } from '../../vms/strategy/settings-owner.ts'

export interface Taking {
  /** Of the step. */
  id: string
  title: string
  /** user@host, for the journal. */
  who: string
  procedure: string
  /** A person said: take it again where somebody undid it, or where the object was made anew. */
  again?: boolean
  /** The line that takes it again, with that risk; default `kvup eus run`. */
  command?: string
}

/**
 * Sets the field, and notes its value on the same object in the same patch; done once it reads so. What was so already is left alone, and is nobody's override.
 * What somebody undid or changed since is asked about (`override-changed`), never quietly set again.
 */
export function takeField(field: Borrowable, taking: Taking): Step {
  const follows: Watched[] = [{ kind: field.kind, where: field.ref }]
  return {
    id: taking.id,
    title: taking.title,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: follows,
    risk: { undo: 'kvup eus abort', safeToLeave: field.harmless },
    shows: showsOverridden(field),
    check: (cx) => overrideState(cx, field, taking),
    apply: (cx) => take(cx, field, taking),
    async blame({ reader }, after) {
      const found = await getOverridden(reader, field, field.uid)
      return found.is === 'gone' ? undefined : lastWriter(found.object, field.pointer, after)
    },
  }
}

async function overrideState(cx: ReadContext, field: Borrowable, taking: Taking): Promise<StepState> {
  const found = await getOverridden(cx.reader, field, field.uid)
  if (found.is === 'gone') return { is: 'done', note: `${nameOfOverridden(field)} is gone` }
  if (found.is === 'replaced') return recreatedSinceOverride(field, taking)
  const override = overrideNamed(await cx.journal.overrides(), field.override)
  const ours = override?.object.uid === field.uid ? override : undefined
  if (isSo(field, found.object, override))
    return { is: 'done', note: ours ? takenText(field, ours) : `${field.meanwhile} already, not by kvup` }
  if (override !== undefined && ours === undefined && !taking.again)
    return recreatedSinceOverride(field, taking)
  return notTaken(field, { taking, ours, object: found.object })
}

/** `paused`, `eus-4.20 (was eus-4.18)`. */
const takenText = ({ meanwhile }: Borrowable, ours: Override): string =>
  meanwhile === 'paused' ? meanwhile : `${meanwhile} (was ${keptText(ours)})`

/** As kvup writes it, or, where nothing is borrowed, as somebody else wants it just so. */
function isSo(field: Borrowable, object: KubeObject, override: Override | undefined): boolean {
  return field.isTaken(object) || (override === undefined && field.suffices?.(object) === true)
}

function notTaken(
  field: Borrowable,
  { taking, ours, object }: { taking: Taking; ours: Override | undefined; object: KubeObject },
): StepState {
  const value = field.valueIn(object)
  const change = `set ${whatIs(field)}: ${valueText(field.takenValue(object))}; it was ${valueText(value)}`
  if (taking.again || ours === undefined || isByKvup(field, object, ours)) return { is: 'todo', change }
  return changedSinceOverride(field, { override: ours, taking }, value)
}

/** As an earlier run set it, to another value than this one would. */
function isByKvup(field: Borrowable, object: KubeObject, { taken }: Override): boolean {
  return taken !== undefined && isDeepStrictEqual(field.valueIn(object), taken.value)
}

async function take(cx: StepContext, field: Borrowable, taking: Taking): Promise<void> {
  const found = await getOverridden(cx.reader, field, field.uid)
  if (found.is !== 'there')
    throw blocked('override-replaced', `${nameOfOverridden(field)} is no longer the same object`, {
      object: nameOfOverridden(field),
      remedy: 'run the same command again',
    })
  const override = overrideNamed(await cx.journal.overrides(), field.override)
  if (!isSo(field, found.object, override)) await keepAndTake(cx, field, { taking, object: found.object })
}

/**
 * Notes the value of the object as it was read, and writes what is borrowed; refused (409, 422) where somebody wrote it since. For who has judged that very
 * object. Throws ApiError.
 */
export async function keepAndTake(
  { writer, journal, clock }: StepContext,
  field: Borrowable,
  { taking, object }: { taking: Pick<Taking, 'id' | 'who' | 'procedure'>; object: KubeObject },
): Promise<void> {
  const former = overrideNamed(await journal.overrides(), field.override)
  if (former !== undefined && former.object.uid !== field.uid)
    await journal.release(field.override, 'the object that it belonged to is gone')
  const value = field.valueIn(object)
  const override = await journal.override({
    id: field.override,
    procedure: taking.procedure,
    object: {
      apiVersion: field.kind.apiVersion,
      kind: field.kind.kind,
      ...(field.ref.namespace !== undefined && { namespace: field.ref.namespace }),
      name: field.ref.name,
      uid: field.uid,
    },
    path: field.pointer,
    was: value === undefined ? { present: false } : { present: true, value },
    taken: { value: field.takenValue(object), step: taking.id },
    by: taking.who,
    at: clock.now().toISOString(),
    harmless: field.harmless,
    ...ownersNow(object, field.override),
  })
  const operations = [...field.take(object), ...savingNote(object, override, field.pointer)]
  await writer.jsonPatch(field.kind, field.ref, operations)
}

const defaultCommand = 'kvup eus run'

function changedSinceOverride(
  field: Borrowable,
  { override, taking: { command = defaultCommand } }: { override: Override; taking: Taking },
  now: unknown,
): StepState {
  return {
    is: 'blocked',
    reason: 'override-changed',
    by: `${whatIs(field)} was ${field.meanwhile} by kvup (saved: ${keptText(override)}), but someone set it to ${valueText(now)} meanwhile`,
    remedy: [
      `${showsOverridden(field)}     shows who writes it`,
      `${restoringByName(field.override)} --keep-current     changes nothing and forgets the saved value`,
      `${command} --accept override-changed     sets it again`,
    ],
  }
}

const recreatedSinceOverride = (field: Borrowable, { command = defaultCommand }: Taking): StepState => ({
  is: 'blocked',
  reason: 'override-replaced',
  by: `${nameOfOverridden(field)} was deleted and created again`,
  remedy: ['kvup eus status', `${command} --accept override-changed     changes the new one too`],
})

export interface Restoring {
  /** Of the step. */
  id: string
  title: string
  /** What to do where somebody changed it meanwhile. Default: ask. */
  meanwhile?: Meanwhile
  /** Why it is not given back: then the override is closed with this reason and the field stays. */
  closeBecause?: string
  dependsOn?: readonly string[]
}

/**
 * Sets the field back to the kept value and takes its note off in the same patch, reads it back, and only then writes down that the override is closed. Without an override it is done at once. What somebody
 * else set meanwhile, or an object that was made anew, is asked about (`changed-meanwhile`).
 */
export function restoreField(field: Borrowable, restoring: Restoring): Step {
  return {
    id: restoring.id,
    title: restoring.title,
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: [],
    ...(restoring.dependsOn && { dependsOn: restoring.dependsOn }),
    risk: { undo: 'none', safeToLeave: 'always' },
    shows: showsOverridden(field),
    check: (cx) => restoreState(cx, field, restoring),
    apply: (cx) => restore(cx, field, restoring),
  }
}

async function restoreState(cx: ReadContext, field: Borrowable, restoring: Restoring): Promise<StepState> {
  const override = overrideNamed(await cx.journal.overrides(), field.override)
  if (override === undefined) return { is: 'done' }
  const choice = await pathOf(cx.reader, field, { override, restoring })
  if (choice.is === 'ask') return choice.state
  if (choice.is === 'write')
    return { is: 'todo', change: `set ${whatIs(field)} back to ${keptText(override)}` }
  const change =
    choice.why === undefined
      ? `note ${whatIs(field)} as restored: it is ${keptText(override)} again`
      : `note ${whatIs(field)} as no longer changed by kvup: ${choice.why}`
  return { is: 'todo', change }
}

async function pathOf(
  reader: Reader,
  field: Borrowable,
  { override, restoring: { meanwhile = 'ask', closeBecause } }: { override: Override; restoring: Restoring },
): Promise<
  { is: 'write'; object: KubeObject } | { is: 'close'; why?: string } | { is: 'ask'; state: StepState }
> {
  const found = await getOverridden(reader, field, override.object.uid)
  if (closeBecause !== undefined) return { is: 'close', why: closeBecause }
  if (found.is === 'gone') return { is: 'close', why: `${nameOfOverridden(field)} is gone` }
  const { object } = found
  if (field.isBack(object, override.was)) return { is: 'close' }
  if (meanwhile === 'keep-current') return { is: 'close', why: 'left as someone else set it' }
  const isOurs = found.is === 'there' && field.isTaken(object)
  if (isOurs || meanwhile === 'overwrite') return { is: 'write', object }
  const asked =
    found.is === 'replaced'
      ? recreatedBeforeRestore(field, override)
      : changedBeforeRestore(field, override, field.valueIn(object))
  return { is: 'ask', state: asked }
}

async function restore(cx: StepContext, field: Borrowable, restoring: Restoring): Promise<NotApplied | void> {
  const { reader, writer, journal } = cx
  const override = overrideNamed(await journal.overrides(), field.override)
  if (override === undefined) return
  const choice = await pathOf(reader, field, { override, restoring })
  if (choice.is === 'ask') return { notApplied: `someone changed ${whatIs(field)} meanwhile` }
  if (choice.is === 'close') return closeNoted(cx, field, [field.override], choice.why)
  // The note stays until the field, read back, is one of its former owners again.
  const isOwned = override.owners !== undefined && override.was.present
  const operations = [
    ...field.give(choice.object, override.was),
    ...(isOwned ? [] : removingNotes(choice.object, [field.override])),
  ]
  await writer.jsonPatch(field.kind, field.ref, operations)
  const after = await getOverridden(reader, field, choice.object.metadata.uid ?? '')
  if (after.is === 'there' && !field.isBack(after.object, override.was))
    throw blocked(
      'restore-undone',
      `${whatIs(field)} was set back to ${keptText(override)}, but reads ${valueText(field.valueIn(after.object))}`,
      { object: nameOfOverridden(field), remedy: [showsOverridden(field)] },
    )
  if (isOwned) await closeNoted(cx, field, [field.override])
  else await journal.release(field.override)
}

const resumeHints = ({ override }: Borrowable): readonly string[] => [
  `${restoringByName(override)} --keep-current     keeps their value and forgets the saved one`,
  `${restoringByName(override)} --overwrite     sets the saved value`,
]

const changedBeforeRestore = (field: Borrowable, override: Override, now: unknown): StepState => ({
  is: 'blocked',
  reason: 'changed-meanwhile',
  by: `${whatIs(field)} was ${keptText(override)} before kvup changed it; someone set it to ${valueText(now)} meanwhile`,
  remedy: [...resumeHints(field), `${showsOverridden(field)}     shows who writes it`],
})

const recreatedBeforeRestore = (field: Borrowable, override: Override): StepState => ({
  is: 'blocked',
  reason: 'changed-meanwhile',
  by: `${nameOfOverridden(field)} was deleted and created again since kvup changed ${whatIs(field)} (saved: ${keptText(override)})`,
  remedy: resumeHints(field),
})

/** Gives one borrowed setting back, whichever run took it; none for overrides that have steps of their own (methods, requests). */
export function fieldRestored(override: Override, meanwhile: Meanwhile = 'ask'): readonly Step[] {
  const field = fieldOfOverride(override)
  if (field === undefined) return []
  const { kind, name } = override.object
  const id = `restore-${override.id.replaceAll('/', '-')}`
  return [restoreField(field, { id, title: `restore ${kind} ${name}`, meanwhile })]
}

interface Watching {
  /** Of the procedure. */
  name: string
  accepted: readonly string[]
  kubevirt: Owner
  /** The line whose step it is. */
  command: string
}

/**
 * The same step, but it ends as soon as somebody changes what is borrowed while the platform moves: methods that are set again move VMs in the middle of the window, a pool
 * that is unpaused or appears rolls to a release in between, a health check that goes on replaces machines that reboot (night E5, E7).
 */
export const whilePaused = (step: Step, watching: Watching): Step => ({
  ...step,
  async check(cx): Promise<StepState> {
    const state = await step.check(cx)
    if (state.is === 'done' || state.is === 'blocked') return state
    return (await disturbance(cx, watching)) ?? state
  },
})

async function disturbance(
  { reader, journal }: ReadContext,
  watching: Watching,
): Promise<StepState | undefined> {
  const [overrides, began] = [await journal.overrides(), await keptBaseline(journal, watching.name)]
  return (
    (await methodsSetAgain(reader, overrides, watching)) ??
    (began?.mode === 'rolling'
      ? undefined
      : poolsRolling(await reader.list(MachineConfigPools), { overrides, began, watching })) ??
    (await settingChanged(reader, overrides, watching))
  )
}

function poolsRolling(
  pools: readonly MachineConfigPool[],
  {
    overrides,
    began,
    watching: { accepted, command },
  }: { overrides: readonly Override[]; began: Baseline | undefined; watching: Watching },
): StepState | undefined {
  const paused = new Set(overrides.filter(isPause).map(({ object }) => object.uid))
  const unpaused = pools.find(({ metadata, spec }) => paused.has(metadata.uid ?? '') && spec?.paused !== true)
  if (unpaused) return unpausedBy(unpaused.metadata.name, command)
  const known = began?.pools
  const appeared = pools.find(
    (pool) =>
      known !== undefined &&
      !isMasterPool(pool) &&
      pool.spec?.paused !== true &&
      (pool.status?.machineCount ?? 0) > 0 &&
      !known.includes(pool.metadata.name),
  )
  return appeared && !accepted.includes('pool-appeared')
    ? poolAppeared(appeared.metadata.name, command)
    : undefined
}

/** Health checks and the approval. Where it was accepted that they are other ones it was said at the start of the run. */
async function settingChanged(
  reader: Reader,
  overrides: readonly Override[],
  { name, accepted, command }: Watching,
): Promise<StepState | undefined> {
  if (accepted.includes('override-changed')) return undefined
  for (const override of overrides.filter((one) => one.procedure === name && !isPause(one))) {
    const field = fieldOfOverride(override)
    const found = field && (await getOverridden(reader, field, override.object.uid))
    if (field === undefined || found?.is !== 'there') continue
    const { object } = found
    if (field.isTaken(object) || field.suffices?.(object) === true) continue
    return {
      is: 'blocked',
      reason: 'override-changed',
      by: `${whatIs(field)} was ${field.meanwhile} by kvup, but someone set it to ${valueText(field.valueIn(object))} during the EUS upgrade`,
      remedy: [
        `${showsOverridden(field)}     shows who writes it`,
        `${restoringByName(override.id)} --keep-current     changes nothing and forgets the saved value`,
        `${command} --accept override-changed     sets it again`,
      ],
    }
  }
  return undefined
}

const isPause = ({ id }: Override): boolean => id.startsWith('pool-paused/')

function unpausedBy(pool: string, command: string): StepState {
  return {
    is: 'blocked',
    reason: 'override-changed',
    by: `someone unpaused pool ${pool}, which kvup had paused: its nodes now follow the platform`,
    remedy: [
      `oc get machineconfigpool ${pool} -o yaml --show-managed-fields     shows who wrote it`,
      `${restoringByName(`pool-paused/${pool}`)} --keep-current     leaves it unpaused and forgets the saved value`,
      `${command} --accept override-changed     pauses it again`,
    ],
  }
}

/** Not one of those that were there at the beginning. */
export function poolAppeared(pool: string, command: string): Extract<StepState, { is: 'blocked' }> {
  return {
    is: 'blocked',
    reason: 'pool-appeared',
    by: `pool ${pool} is new since the EUS upgrade began, and not paused: its nodes follow the platform`,
    remedy: [
      `oc patch machineconfigpool ${pool} --type=merge -p '{"spec":{"paused":true}}'     pauses it, and kvup does not unpause it`,
      `${command} --accept pool-appeared     pauses it too`,
    ],
  }
}

/**
 * Somebody set the methods in the middle of the window. Read from the KubeVirt, whoever owns them: what stands there moves VMs, and it is readable in every moment of an upgrade of
 * the operator. Throws ApiError, and `blocked` where the KubeVirt is another one.
 */
async function methodsSetAgain(
  reader: Reader,
  overrides: readonly Override[],
  holding: Watching,
): Promise<StepState | undefined> {
  const now = methodsOf(await readOwner(reader, holding.kubevirt))
  return now.length === 0 ? undefined : setAgain(now, overrideNamed(overrides, overrideId), holding)
}

/** The hold of a window: done by an earlier run, and undone by somebody since, is asked about and not quietly done again. */
export function pausedOnce(hold: Step, holding: Watching): Step {
  return {
    ...hold,
    async check(cx): Promise<StepState> {
      const state = await hold.check(cx)
      const isUndone = state.is === 'todo' || (state.is === 'blocked' && state.reason === 'pause-changed')
      if (!isUndone || holding.accepted.includes('override-changed')) return state
      const overrides = await cx.journal.overrides()
      const override = overrides.find(({ id, procedure }) => id === overrideId && procedure === holding.name)
      if (override === undefined) return state
      return setAgain(methodsOf(await readOwner(cx.reader, holding.kubevirt)), override, holding)
    },
  }
}

function setAgain(
  now: readonly string[],
  override: Override | undefined,
  { kubevirt, command }: Watching,
): StepState {
  const before =
    override === undefined ? 'they were none before' : `saved: ${methodsText(keptMethods(override))}`
  return {
    is: 'blocked',
    reason: 'override-changed',
    by: `automatic VM updates are paused (${before}), but someone set workloadUpdateMethods of ${nameOf(kubevirt)} to ${methodsText(now)}: VMs migrate during the EUS upgrade`,
    remedy: [
      `kubectl -n ${kubevirt.ref.namespace} get kubevirts,hyperconvergeds -o yaml --show-managed-fields     shows who writes them`,
      'kvup history     shows when they were paused',
      `${command} --accept override-changed     pauses them again`,
    ],
  }
}
