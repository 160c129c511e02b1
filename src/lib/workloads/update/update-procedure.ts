import type { Procedure, ReadContext, Step } from '../../procedure/step.ts'
import { readOwner } from '../find-owner.ts'
import { giveBackSteps } from '../give-back.ts'
import { holdWorkloadUpdates } from '../hold.ts'
import { loanOn } from '../loan-on.ts'
import { methodsIn, type SettingsOwner } from '../strategy/owner.ts'
import type { Wave } from '../waves/waves.ts'
import { wavesOf } from '../waves/waves.ts'
import { passedCanaries } from './begin.ts'
import type { UpdateLook } from './look.ts'
import type { Rollout } from './rollout.ts'
import { waveStep } from './wave-step.ts'

/** Also the name in the journal: the loan that is opened under it is the update's own (night W6). */
const updateName = 'update workloads'

export interface Updating {
  owner: SettingsOwner
  rollout: Rollout
  who: string
  /** Ms: of the whole run. */
  timeoutMs: number
  /** KubeVirt is settled: before VMs are moved, and before the loan is given back (contract "Loans"). */
  settled: (id: string, title: string) => Step
}

/** Hold → settled → canary → wave after wave → settled → give back; the waves are made anew from the cluster after each. */
export function updateProcedure(updating: Updating): Procedure {
  const { owner, rollout, who, settled } = updating
  return {
    name: updateName,
    async reached(cx) {
      const look = await rollout.look(cx)
      return (
        look.fleet.candidates.size === 0 &&
        look.restarts.every(({ state }) => state.is === 'back' || state.is === 'not-begun')
      )
    },
    async steps(cx) {
      const look = await rollout.look(cx)
      const waves = await wavesLeft(cx, rollout, look)
      return [
        holdWorkloadUpdates(owner, { who, procedure: updateName }),
        settled('settled', 'KubeVirt is settled'),
        ...waves.map((wave) => stepOf(updating, wave)),
        ...(await givingBack(cx, updating)),
      ]
    },
  }
}

function stepOf({ rollout, timeoutMs }: Updating, wave: Wave): Step {
  return waveStep(rollout, wave, { title: titleOf(wave, rollout), atMost: timeoutMs, dependsOn: [] })
}

/** Those that are not through, in this run or before it; what comes back later has a wave of its own. Throws ApiError. */
export async function wavesLeft(
  cx: ReadContext,
  rollout: Rollout,
  look: UpdateLook,
): Promise<readonly Wave[]> {
  const { wanted, through } = rollout
  const over = new Set(rollout.failed(look).map(({ vm }) => vm))
  const candidates = [...look.fleet.candidates.values()].filter(({ vm }) => !over.has(vm))
  const passed = await canariesPassed(cx, rollout)
  const waves = wavesOf(candidates, wanted.waves, passed)
  const missed = waves.filter(({ id }) => through.has(id)).flatMap(({ vms }) => vms)
  const late = missed.length > 0 && !through.has(lateId) ? [{ id: lateId, vms: missed }] : []
  const restarting = look.restarts.filter(({ state }) => state.is === 'under-way' || state.is === 'missing')
  const pending =
    waves.length === 0 && restarting.length > 0 && !through.has('wave') ? [{ id: 'wave', vms: [] }] : []
  return [...waves.filter(({ id }) => !through.has(id)), ...late, ...pending]
}

const lateId = 'late'

async function canariesPassed(
  { reader }: ReadContext,
  { wanted, through, launcher }: Rollout,
): Promise<number> {
  if (wanted.waves.canaries === 0) return 0
  return through.has('canary') ? wanted.waves.canaries : passedCanaries(reader, launcher)
}

function titleOf({ id, value }: Wave, { wanted: { waveBy } }: Rollout): string {
  if (id === 'canary') return 'canary'
  if (id === lateId) return 'VMs that had to wait'
  if (value === undefined) return waveBy.is === 'one' ? 'virtual machines' : 'the other virtual machines'
  return waveBy.is === 'label' ? `${waveBy.key}=${value}` : `${waveBy.is} ${value}`
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
  return [settled('settled-again', 'KubeVirt is still settled'), ...giveBackSteps(owner, takenFrom)]
}
