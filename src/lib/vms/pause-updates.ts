import { lastWriter } from '../kube/last-writer.ts'
import type { Journal, Override } from '../engine/journal.ts'
import { giveToOwners, hasNote, noNote, noteGone, noteOf, ownersNow } from '../engine/overrides.ts'
import type { Procedure, ReadContext, Step, StepContext, StepState } from '../engine/step.ts'
import { minutes, seconds } from '../kube/clock.ts'
import {
  ensureStillStored,
  methodsIn,
  methodsPointer,
  nameOf,
  passesOn,
  patchAt,
  readOwner,
  type SettingsOwner,
  showsWriters,
  storedNow,
  untilPassedOn,
  untilWritable,
  watchesOf,
  writeSettings,
} from './strategy/settings-owner.ts'
import {
  heldLines,
  keptMethods,
  methodsText,
  openOverride,
  overrideId,
  overrideOn,
  type Owner,
  restoreLine,
  sameMethods,
} from './update-methods.ts'
import type { KubeObject } from '../kube/object.ts'
import type { JsonOperation, Reader } from '../kube/cluster.ts'
import { blocked } from '../kube/errors.ts'

/** Who borrows, for the journal. */
export interface PauseTools {
  who: string
  procedure: string
  /** A person said: empty them again where somebody set others meanwhile. What was kept first stays kept. */
  again?: boolean
  /** It goes over several minors: whoever resumes it knows by the saved value, which nobody else can write. */
  severalMinors?: boolean
  /** The version that is gone back to, where they stay paused at the end: whoever runs the line again knows it by the saved value. */
  goesBack?: string | undefined
}

/**
 * Empties `workloadUpdateMethods`, and notes its value on the same object in the same patch: workload migrations race the virt-handler roll
 * (facts 2.8, section 8). Methods that are empty already are left alone and no override is opened. On HyperConverged only an explicit
 * `[]` holds (hco 3), and it is done once the KubeVirt CR has it as well.
 */
export function pauseWorkloadUpdates(found: SettingsOwner, pauseTools: PauseTools): Step {
  return {
    id: 'pause-workload-updates',
    title: 'pause automatic VM updates',
    doing: 'pausing automatic VM updates',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    watches: watchesOf(found),
    risk: {
      undo: restoreLine(pauseTools),
      safeToLeave: 'days; CPU, memory and volume changes wait while paused',
    },
    async check(cx): Promise<StepState> {
      const owner = await storedNow(cx.reader, found)
      return 'is' in owner ? owner : pauseState(cx, owner, pauseTools)
    },
    shows: showsWriters(found),
    async blame({ reader }, after) {
      const owner = await storedNow(reader, found)
      return 'is' in owner
        ? undefined
        : lastWriter(await readOwner(reader, owner), methodsPointer(owner), after)
    },
    async apply(cx) {
      const owner = await storedNow(cx.reader, found)
      await hold(cx, 'is' in owner ? found : owner, pauseTools)
    },
  }
}

async function pauseState(
  cx: ReadContext,
  owner: SettingsOwner,
  { again = false, goesBack }: PauseTools,
): Promise<StepState> {
  const methods = methodsIn(await readOwner(cx.reader, owner), owner)
  const override = overrideOn(owner, await cx.journal.overrides())
  if (methods.length === 0 && override && goesBack !== undefined && override.goesBack !== goesBack)
    return { is: 'todo', change: `note on ${nameOf(owner)} that automatic VM updates stay paused at the end` }
  if (methods.length === 0) return (await untilPassedOn(cx, owner, [])) ?? held(override)
  if (override && !again && !sameMethods(methods, keptMethods(override)))
    return changedWhilePaused(methods, override)
  const change = `set workloadUpdateMethods of ${nameOf(owner)} from ${methods.join(', ')} to none, and save the value`
  return (await untilWritable(cx.reader, owner)) ?? { is: 'todo', change }
}

const held = (override: Override | undefined): StepState => ({
  is: 'done',
  note: override
    ? `automatic VM updates paused (was ${keptMethods(override).join(', ')})`
    : 'automatic VM updates were off already',
})

async function hold(
  cx: StepContext,
  owner: SettingsOwner,
  { who, procedure, severalMinors = false, goesBack }: PauseTools,
): Promise<void> {
  const { reader, journal, clock } = cx
  await ensureStillStored(reader, owner)
  const holding = await readOwner(reader, owner)
  const { kind, ref, uid } = owner
  await closeFormerOverride(journal, overrideId, owner)
  const override = await journal.override({
    id: overrideId,
    procedure,
    object: { apiVersion: kind.apiVersion, kind: kind.kind, namespace: ref.namespace, name: ref.name, uid },
    path: methodsPointer(owner),
    was: { present: true, value: [...methodsIn(holding, owner)] },
    by: who,
    at: clock.now().toISOString(),
    harmless: 'for days; CPU, memory and volume changes wait',
    ...(severalMinors && { severalMinors }),
    ...(goesBack !== undefined && { goesBack }),
    ...ownersNow(holding, overrideId),
  })
  const patch = patchAt([[owner.strategy, { workloadUpdateMethods: [] }]], holding, noteOf(override))
  await writeSettings(cx, owner, patch)
}

const changedWhilePaused = (now: readonly string[], override: Override): StepState => ({
  is: 'blocked',
  reason: 'pause-changed',
  by: `workloadUpdateMethods was set to ${methodsText(now)} while kvup had paused it (saved: ${keptMethods(override).join(', ')})`,
  remedy: [...heldLines(override), 'kvup history'],
})

/**
 * Closes an open override of this name whose object was deleted: there is nothing to give back to, and its value must not stand
 * for that of the one that is here now.
 */
export async function closeFormerOverride(
  journal: Journal,
  id: string,
  owner: Pick<Owner, 'uid'> & Partial<Pick<SettingsOwner, 'kubevirt'>>,
): Promise<void> {
  const ours = new Set([owner.uid, owner.kubevirt?.uid])
  const former = (await journal.overrides()).some(
    (override) => override.id === id && !ours.has(override.object.uid),
  )
  if (former) await journal.release(id, 'the KubeVirt that it belonged to is gone')
}

interface RestoreOptions {
  /** Something is to be resumed, as far as is known when the step is made; default true. It only decides what is said before its turn. */
  resumes?: boolean
  /** Also where somebody else set another value meanwhile. */
  overwrite?: boolean
  /** The uid that the override is of: another one than the owner's where that object was deleted and made anew. */
  takenFrom?: string
}

/**
 * All that it takes: where a HyperConverged owns the methods, the override is closed in a step of its own, once KubeVirt has them
 * (hco 5).
 */
export function restoreSteps(owner: SettingsOwner, options: RestoreOptions = {}): readonly Step[] {
  const give = restoreWorkloadUpdates(owner, options)
  return passesOn(owner) ? [give, closeOncePassedOn(owner, options)] : [give]
}

/**
 * Sets `workloadUpdateMethods` back to the kept value; on a plain KubeVirt it closes the override once that was read back. Belongs behind
 * a step that saw the control plane settled (contract "Temporary changes"). Somebody else's value is never overwritten unasked.
 */
export function restoreWorkloadUpdates(
  found: SettingsOwner,
  { overwrite = false, takenFrom = found.uid, resumes = true }: RestoreOptions = {},
): Step {
  let isResumed = false
  return {
    id: 'resume-workload-updates',
    title: 'resume automatic VM updates',
    doing: 'resuming automatic VM updates',
    ...(resumes && { ahead: 'automatic VM updates resume' }),
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 5 * seconds,
    watches: [],
    dependsOn: ['pause-workload-updates'],
    risk: { undo: 'kvup upgrade --leave-paused leaves them paused', safeToLeave: 'always' },
    async check({ reader, journal }): Promise<StepState> {
      const override = openOverride(await journal.overrides(), takenFrom)
      if (!override) return { is: 'done', ...(isResumed && { note: resumed }) }
      const owner = await storedNow(reader, found)
      if ('is' in owner) return owner
      const state = resumeState(override, { owner, holding: await readOwner(reader, owner), overwrite })
      return state.is === 'todo' ? ((await untilWritable(reader, owner)) ?? state) : state
    },
    async apply(cx) {
      const override = openOverride(await cx.journal.overrides(), takenFrom)
      const owner = await storedNow(cx.reader, found)
      if (override) await restoreUpdates(cx, 'is' in owner ? found : owner, override)
      isResumed ||= override !== undefined
    },
  }
}

const resumed = 'automatic VM updates resumed'

function resumeState(
  override: Override,
  { owner, holding, overwrite }: { owner: SettingsOwner; holding: KubeObject; overwrite: boolean },
): StepState {
  const now = methodsIn(holding, owner)
  const kept = keptMethods(override)
  if (sameMethods(now, kept))
    return passesOn(owner)
      ? { is: 'done', note: resumed }
      : {
          is: 'todo',
          change: `note workloadUpdateMethods of ${nameOf(owner)} as restored: it is ${kept.join(', ')} again`,
        }
  if (now.length === 0 || overwrite)
    return { is: 'todo', change: `set workloadUpdateMethods back to ${kept.join(', ')}` }
  return changedMeanwhile(now, override)
}

function changedMeanwhile(now: readonly string[], override: Override): StepState {
  const kept = keptMethods(override)
  const restore = restoreLine(override)
  return {
    is: 'blocked',
    reason: 'changed-meanwhile',
    by: `workloadUpdateMethods was ${kept.join(', ')} before kvup changed it; someone set it to ${methodsText(now)} meanwhile`,
    remedy: [
      `${restore} --keep-current     keeps their value and forgets the saved one`,
      `${restore} --overwrite        sets the saved value`,
    ],
  }
}

/**
 * Writes the kept value with optimistic concurrency. Its note goes in the same patch, unless it is needed still: for a way back until the value is passed on, and for the owners of the field, who
 * get it once it reads as before. Reads it back, and only then writes down that the override is closed.
 */
async function restoreUpdates(cx: StepContext, owner: SettingsOwner, override: Override): Promise<void> {
  const { reader, journal } = cx
  await ensureStillStored(reader, owner)
  const holding = await readOwner(reader, owner)
  const kept = keptMethods(override)
  const fields = sameMethods(methodsIn(holding, owner), kept) ? {} : { workloadUpdateMethods: [...kept] }
  const isNeeded = passesOn(owner) || override.owners !== undefined
  const note = isNeeded ? {} : noteGone(holding, overrideId)
  if (Object.keys({ ...fields, ...note }).length > 0)
    await writeSettings(cx, owner, patchAt([[owner.strategy, fields]], holding, note))
  await ensureBack(reader, owner, kept)
  if (passesOn(owner)) return
  if (isNeeded) {
    await takeNoteOff(cx, owner, { isBack: true })
    await ensureBack(reader, owner, kept)
  }
  await journal.release(overrideId)
}

/** Throws `blocked` where the methods do not read so. */
async function ensureBack(reader: Reader, owner: SettingsOwner, kept: readonly string[]): Promise<void> {
  const after = methodsIn(await readOwner(reader, owner), owner)
  if (sameMethods(after, kept)) return
  throw blocked(
    'restore-undone',
    `workloadUpdateMethods was set back to ${kept.join(', ')}, but reads ${methodsText(after)}`,
    {
      remedy: [`kvup workloads strategy set --methods ${kept.join(',')}`, showsWriters(owner)],
    },
  )
}

/** Changes nothing else but, where the value is back, whose field it is. Throws ApiError. */
async function takeNoteOff(
  cx: StepContext,
  owner: SettingsOwner,
  { isBack }: { isBack: boolean },
): Promise<void> {
  const read = () => readOwner(cx.reader, owner)
  const write = (operations: readonly JsonOperation[]) => writeSettings(cx, owner, operations)
  if (isBack && (await giveToOwners({ read, write }, overrideId))) return
  const holding = await read()
  if (hasNote(holding, overrideId)) await writeSettings(cx, owner, patchAt([], holding, noNote(overrideId)))
}

/** The override stays open until the value took effect: until then a way back is still needed. */
function closeOncePassedOn(found: SettingsOwner, { takenFrom = found.uid }: RestoreOptions): Step {
  return {
    id: 'workload-updates-passed-on',
    title: 'wait until KubeVirt has its update methods again',
    patience: { every: 5 * seconds, atMost: 5 * minutes },
    estimate: 2 * seconds,
    closes: true,
    watches: watchesOf(found),
    dependsOn: ['pause-workload-updates', 'resume-workload-updates'],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check(cx): Promise<StepState> {
      const override = openOverride(await cx.journal.overrides(), takenFrom)
      if (!override) return { is: 'done' }
      const owner = await storedNow(cx.reader, found)
      if ('is' in owner) return owner
      const kept = keptMethods(override)
      const now = methodsIn(await readOwner(cx.reader, owner), owner)
      if (!sameMethods(now, kept)) return changedMeanwhile(now, override)
      const waiting = await untilPassedOn(cx, owner, kept)
      const there = `${nameOf(owner.kubevirt)} has ${kept.join(', ')} again`
      const todo = { is: 'todo', change: `note workloadUpdateMethods as restored: ${there}` } as const
      return waiting ?? (await untilWritable(cx.reader, owner)) ?? todo
    },
    apply: (cx) => closeMethodsOverride(cx, found),
  }
}

/** Takes the note off whichever object bears it, where the value is back as a field of its former owners, changes nothing else, and writes down that the override is closed. Throws ApiError, and `blocked` where an object is another one. */
export async function closeMethodsOverride(
  cx: StepContext,
  found: SettingsOwner,
  why?: string,
): Promise<void> {
  const { reader, writer, journal } = cx
  const stored = await storedNow(reader, found)
  const owner = 'is' in stored ? found : stored
  const holding = await readOwner(reader, owner)
  const isNoted = hasNote(holding, overrideId)
  if (isNoted) await ensureStillStored(reader, owner)
  // Where the value stays, what it was is missing without its note: that it is closed is written down first.
  if (why !== undefined) await journal.release(overrideId, why)
  if (isNoted) {
    await takeNoteOff(cx, owner, { isBack: why === undefined })
  }
  const { kubevirt } = owner
  const below = passesOn(owner) ? await readOwner(reader, kubevirt) : undefined
  if (below && hasNote(below, overrideId))
    await writer.mergePatch(kubevirt.kind, kubevirt.ref, patchAt([], below, noNote(overrideId)))
  if (why === undefined) await journal.release(overrideId)
}

/** What to do when somebody changed the borrowed setting meanwhile. */
export type Meanwhile = 'ask' | 'keep-current' | 'overwrite'

interface Restoring {
  owner: SettingsOwner
  meanwhile: Meanwhile
  settled: Step
  /** The uid that the override is of: another one than the owner's where KubeVirt was deleted and made anew. */
  takenFrom: string
}

/** Gives one override back behind the step `settled`: at whichever version, but not while the control plane moves (contract "Temporary changes"). */
export function restoreProcedure({ owner, meanwhile, settled, takenFrom }: Restoring): Procedure {
  return {
    name: 'resume automatic VM updates',
    overrides: [overrideId],
    reached: async ({ journal }) => openOverride(await journal.overrides(), takenFrom) === undefined,
    steps: async () =>
      meanwhile === 'keep-current'
        ? [closeOverride(owner, takenFrom)]
        : [settled, ...restoreSteps(owner, { overwrite: meanwhile === 'overwrite', takenFrom })],
  }
}

/** Closes the override and leaves somebody else's value where it is. */
function closeOverride(owner: SettingsOwner, takenFrom: string): Step {
  return {
    id: 'close-override',
    title: 'leave the update methods as they are',
    patience: { every: 1000, atMost: 60_000 },
    estimate: 1000,
    watches: [],
    risk: { undo: 'none', safeToLeave: 'always' },
    async check({ journal }) {
      return openOverride(await journal.overrides(), takenFrom)
        ? {
            is: 'todo',
            change: 'leave workloadUpdateMethods as somebody set it, and end the temporary change',
          }
        : { is: 'done' }
    },
    apply: (cx) => closeMethodsOverride(cx, owner, 'left as someone else set it'),
  }
}
