import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import { readOwner } from '../find-owner.ts'
import { giveBackSteps } from '../give-back.ts'
import { holdWorkloadUpdates } from '../hold.ts'
import { loanOn } from '../loan-on.ts'
import { methodsIn, type SettingsOwner } from '../strategy/owner.ts'
import { lateId, waveTitle } from '../waves/wave-title.ts'
import type { Wave } from '../waves/waves.ts'
import { type CanariesSeen, wavesOf } from '../waves/waves.ts'
import { canariesBegun } from './begin.ts'
import type { UpdateLook } from './look.ts'
import type { UpdateRun } from './update-run.ts'
import { remembering, unlessSwitchedOn } from './switched-on.ts'
import { waveStep } from './wave-step.ts'

/** Also the name in the journal: the loan that is opened under it is the update's own (night W6). */
export const updateName = 'update workloads'

/** Behind the last wave: from here on the loan is given back. */
export const settledAgainId = 'settled-again'

export interface Updating {
  owner: SettingsOwner
  run: UpdateRun
  who: string
  /** Ms: of the whole run. */
  timeoutMs: number
  /** KubeVirt is settled: before VMs are moved, and before the loan is given back (contract "Loans"). */
  settled: (id: string, title: string) => Step
}

/** Hold → settled → canary → wave after wave → settled → give back; the waves are made anew from the cluster after each. */
export function updateProcedure(updating: Updating): Procedure {
  const { owner, run, who, settled } = updating
  return {
    name: updateName,
    async reached(cx) {
      const look = await run.look(cx)
      return (
        look.fleet.candidates.size === 0 &&
        look.restarts.every(({ state }) => state.is === 'back' || state.is === 'not-begun')
      )
    },
    async steps(cx) {
      const look = await run.look(cx)
      const waves = await wavesLeft(cx, run, look)
      return [
        remembering(holdWorkloadUpdates(owner, { who, procedure: updateName }), run),
        settled('settled', 'KubeVirt is settled'),
        ...waves.map((wave) => stepOf(updating, wave)),
        ...(await givingBack(cx, updating)),
      ]
    },
  }
}

function stepOf({ owner, run, timeoutMs }: Updating, wave: Wave): Step {
  const step = waveStep(run, wave, {
    title: waveTitle(wave, run.wanted.waveBy),
    atMost: timeoutMs,
  })
  return unlessSwitchedOn(step, { owner, holding: run, selection: run.wanted.selection })
}

/** Those that are not through, in this run or before it; what comes back later has a wave of its own. Throws ApiError. */
export async function wavesLeft(cx: ReadContext, run: UpdateRun, look: UpdateLook): Promise<readonly Wave[]> {
  const { wanted, through } = run
  const over = new Set(run.failed(look).map(({ vm }) => vm))
  const candidates = [...look.fleet.candidates.values()].filter(({ vm }) => !over.has(vm))
  const waves = wavesOf(candidates, wanted.waves, await canariesSeen(cx, run, look))
  const missed = waves.filter(({ id }) => through.has(id)).flatMap(({ vms }) => vms)
  const late = missed.length > 0 && !through.has(lateId) ? [{ id: lateId, vms: missed }] : []
  const restarting = look.restarts.filter(({ state }) => state.is === 'under-way' || state.is === 'missing')
  const pending =
    waves.length === 0 && restarting.length > 0 && !through.has('wave') ? [{ id: 'wave', vms: [] }] : []
  return [...canaryThatPassed(run, waves), ...waves.filter(({ id }) => !through.has(id)), ...late, ...pending]
}

/** It is a step all the same: `--until canary` ends there, however often it is run. */
function canaryThatPassed({ wanted, through }: UpdateRun, waves: readonly Wave[]): readonly Wave[] {
  const asked = wanted.waves.canaries > 0 || wanted.canary !== undefined
  const isThere = waves.some(({ id }) => id === 'canary')
  return asked && !isThere && !through.has('canary') ? [{ id: 'canary', vms: [] }] : []
}

/** Nobody steps around a canary that failed by running it again: it stays the canary of this launcher. */
async function canariesSeen(
  cx: ReadContext,
  { wanted, through, launcher }: UpdateRun,
  { ledger, fleet }: UpdateLook,
): Promise<CanariesSeen> {
  const { waves, selection } = wanted
  if (waves.canaries === 0 || through.has('canary')) return { passed: waves.canaries }
  const { passed, chosen } = await canariesBegun(cx, launcher, {
    namespace: selection.namespace,
    isOutdated: (vm) => fleet.candidates.has(vm),
  })
  return { passed: passed.size, chosen, failing: new Set(ledger.failing) }
}

/** Somebody else's hold stays (night W6). */
async function givingBack(
  { reader, journal }: ReadContext,
  { owner, settled }: Updating,
): Promise<readonly Step[]> {
  const loan = loanOn(owner, await journal.loans())
  const own = loan
    ? loan.procedure === updateName
    : methodsIn(await readOwner(reader, owner), owner).length > 0
  if (!own) return []
  const takenFrom = loan ? { takenFrom: loan.object.uid } : {}
  return [settled(settledAgainId, 'KubeVirt is still settled'), ...giveBackSteps(owner, takenFrom)]
}
