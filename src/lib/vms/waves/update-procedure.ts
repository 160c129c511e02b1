import type { Procedure, ReadContext, Step, StepState } from '../../engine/step.ts'
import { methodsIn, methodsPointer, readOwner, type SettingsOwner } from '../strategy/settings-owner.ts'
import { pauseWorkloadUpdates, restoreSteps } from '../pause-updates.ts'
import { methodsOf, methodsText, overrideOn, restoreLine } from '../update-methods.ts'
import { type ObservedCanaries, type Wave } from './waves.ts'
import { canariesBegun, type UpdateSnapshot } from './update-fleet.ts'
import { outcomeOf, shortfallOf, type UpdateRun } from './update-run.ts'
import { type Selection } from '../vm.ts'
import { lastWriter } from '../../kube/last-writer.ts'
import type { Override } from '../../engine/journal.ts'
import { narrowedLine } from '../../output/kvup-words.ts'
import { resumeLine } from '../../engine/change.ts'
import { waveStep, wavesLeft } from './wave-step.ts'

/** Also the name in the journal: the override that is opened under it is the update's own (night W6). */
export const updateName = 'update workloads'

/** Behind the last wave: from here on the override is given back. */
export const settledAgainId = 'healthy-again'

interface Updating {
  owner: SettingsOwner
  run: UpdateRun
  who: string
  /** Ms: of the whole run. */
  timeoutMs: number
  /** KubeVirt is settled: before VMs are moved, and before the override is given back (contract "Temporary changes"). */
  settled: (id: string, title: string) => Step
}

/** Hold → settled → canary → wave after wave → settled → give back; the waves are made anew from the cluster after each. */
export function updateProcedure(updating: Updating): Procedure {
  const { owner, run, who, settled } = updating
  return {
    name: updateName,
    async reached(cx) {
      const snapshot = await run.read(cx)
      return (
        snapshot.fleet.candidates.size === 0 &&
        snapshot.restarts.every(({ state }) => state.is === 'back' || state.is === 'not-begun')
      )
    },
    async steps(cx) {
      const snapshot = await run.read(cx)
      const waves = await updateWaves(cx, run, snapshot)
      return [
        ...ofStage('Prepare', [
          remembering(pauseWorkloadUpdates(owner, { who, procedure: updateName }), run),
          settled('healthy', 'verify that KubeVirt is healthy'),
        ]),
        ...waves.map((wave) => stepOf(updating, wave)),
        ...(await restoring(cx, updating)),
      ]
    },
    shortfall: async (cx) => shortfallOf((await outcomeOf(cx, run)).items),
  }
}

function stepOf({ owner, run, timeoutMs }: Updating, wave: Wave): Step {
  return unlessSwitchedOn(waveStep(run, wave, timeoutMs), {
    owner,
    holding: run,
    typed: run.typed,
    selection: run.wanted.selection,
  })
}

/** Those that are not through, in this run or before it; what comes back later has a wave of its own. Throws ApiError. */
export async function updateWaves(
  cx: ReadContext,
  run: UpdateRun,
  snapshot: UpdateSnapshot,
): Promise<readonly Wave[]> {
  const candidates = run.left(snapshot).values()
  const { restarts } = snapshot
  return wavesLeft(run, { candidates, restarts }, await observedCanaries(cx, run, snapshot))
}

/** Nobody steps around a canary that failed by running it again: it stays the canary of this launcher. */
async function observedCanaries(
  cx: ReadContext,
  { wanted, through, launcher }: UpdateRun,
  { ledger, fleet }: UpdateSnapshot,
): Promise<ObservedCanaries> {
  const { waves, selection } = wanted
  if (waves.canaries === 0 || through.has('canary')) return { passed: waves.canaries }
  const { passed, chosen } = await canariesBegun(cx, launcher, {
    namespace: selection.namespace,
    isOutdated: (vm) => fleet.candidates.has(vm),
  })
  return { passed: passed.size, chosen, failing: new Set(ledger.failing) }
}

/** Somebody else's hold stays (night W6). */
async function restoring(
  { reader, journal }: ReadContext,
  { owner, settled }: Updating,
): Promise<readonly Step[]> {
  const override = overrideOn(owner, await journal.overrides())
  const own = override
    ? override.procedure === updateName
    : methodsIn(await readOwner(reader, owner), owner).length > 0
  if (!own) return []
  const takenFrom = override ? { takenFrom: override.object.uid } : {}
  return ofStage('Verify', [
    settled(settledAgainId, 'KubeVirt is still healthy'),
    ...restoreSteps(owner, takenFrom),
  ])
}

/** A wave is a stage of its own; what comes before and behind the waves is one each. */
const ofStage = (part: string, steps: readonly Step[]): readonly Step[] =>
  steps.map((step) => ({ ...step, part }))

/** Whether workload updates have been held in this run. */
interface PauseState {
  held: boolean
}

/** Remembers that the hold was reached: only after that somebody can have switched it off. */
const remembering = (hold: Step, holding: PauseState): Step => ({
  ...hold,
  async check(cx) {
    const state = await hold.check(cx)
    if (state.is === 'done') holding.held = true
    return state
  },
})

/** The order that a person chose is none any more where KubeVirt's own updater was switched on meanwhile: nothing further is begun. */
function unlessSwitchedOn(
  step: Step,
  {
    owner,
    holding,
    ...lines
  }: { owner: SettingsOwner; holding: PauseState; typed: string; selection: Selection },
): Step {
  return {
    ...step,
    async check(cx): Promise<StepState> {
      if (!holding.held) return step.check(cx)
      const methods = methodsOf(await readOwner(cx.reader, owner.kubevirt))
      if (methods.length === 0) return step.check(cx)
      const who = lastWriter(await readOwner(cx.reader, owner), methodsPointer(owner))
      return {
        is: 'blocked',
        reason: 'updater-switched-on',
        by: `workloadUpdateMethods was set to ${methodsText(methods)} meanwhile: KubeVirt now moves VMs itself, in its own order${who ? `. It was ${who}` : ''}`,
        remedy: resumedRemedy(overrideOn(owner, await cx.journal.overrides()), lines),
      }
    },
  }
}

const resumedRemedy = (
  override: Override | undefined,
  { typed, selection }: { typed: string; selection: Selection },
): readonly string[] => [
  resumeLine({ commandLine: typed }, 'pauses them again, and goes on'),
  `${narrowedLine('kvup workloads update', selection)} --watch-only     follows KubeVirt instead`,
  ...(override ? [`${restoreLine(override)} --keep-current     leaves the VMs to KubeVirt`] : []),
]
