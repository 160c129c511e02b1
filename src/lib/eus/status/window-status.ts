import type { Loan } from '../../procedure/journal.ts'
import type { ReadContext, Step, StepState } from '../../procedure/step.ts'
import { KvupError } from '../../system/errors.ts'
import { partNames } from './parts-of-steps.ts'

/** Where one step stands; those behind the first that is not done are not asked. */
export interface StepStanding {
  id: string
  title: string
  state: StepState['is'] | 'ahead' | 'unknown'
  /** What was done, or is waited for, or is in the way. */
  note?: string
  /** RFC 3339. */
  since?: string
  remedy?: readonly string[]
}

/** `check` of every step until one is not done: there is no other state of a window. Reads only. */
export async function stepStandings(
  steps: readonly Step[],
  cx: ReadContext,
): Promise<readonly StepStanding[]> {
  const standings: StepStanding[] = []
  let isAhead = false
  for (const step of steps.filter(({ id }) => !isNotedOnly(id))) {
    const standing: StepStanding = isAhead ? plain(step, 'ahead') : await standingOf(step, cx)
    standings.push(standing)
    isAhead ||= standing.state !== 'done'
  }
  return standings
}

/** Which releases were chosen is noted anew where a look knows others, as one without the files does: no state of the window. */
const isNotedOnly = (id: string): boolean => id === 'keep-way'

const plain = ({ id, title }: Step, state: StepStanding['state']): StepStanding => ({ id, title, state })

async function standingOf(step: Step, cx: ReadContext): Promise<StepStanding> {
  try {
    return { ...plain(step, 'done'), ...wordsOf(await step.check(cx)) }
  } catch (error) {
    if (error instanceof KvupError) return { ...plain(step, 'unknown'), note: error.message }
    throw error
  }
}

function wordsOf(state: StepState): Pick<StepStanding, 'state' | 'note' | 'since' | 'remedy'> {
  const remedy = 'remedy' in state && state.remedy ? { remedy: state.remedy } : {}
  const since = 'since' in state && state.since !== undefined ? { since: state.since } : {}
  const note = noteOf(state)
  return { state: state.is, ...since, ...remedy, ...(note !== undefined && { note }) }
}

function noteOf(state: StepState): string | undefined {
  if (state.is === 'done') return state.note
  if (state.is === 'todo') return state.change
  if (state.is === 'blocked') return state.by
  const why = state.is === 'stalled' ? state.why : state.trouble
  return why === undefined ? state.on : `${state.on}: ${why}`
}

/** A part of a window as people name it. */
export interface Part {
  name: string
  state: 'done' | 'now' | 'ahead'
  note?: string
}

/** One line for each part. What the platform has left behind is for the caller to put before. */
export function partsOf(standings: readonly StepStanding[]): readonly Part[] {
  const names = partNames(standings.map(({ id }) => id))
  const found: { name: string; steps: StepStanding[] }[] = []
  for (const [at, standing] of standings.entries()) {
    const last = found.at(-1)
    const name = names[at] ?? ''
    if (last?.name === name) last.steps.push(standing)
    else found.push({ name, steps: [standing] })
  }
  return found.map(({ name, steps }) => partOf(name, steps))
}

function partOf(name: string, steps: readonly StepStanding[]): Part {
  const open = steps.find(({ state }) => state !== 'done')
  const state = open === undefined ? 'done' : open.state === 'ahead' && open === steps[0] ? 'ahead' : 'now'
  const note = open === undefined ? doneNote(name, steps) : open.note
  return { name, state, ...(note !== undefined && { note }) }
}

function doneNote(name: string, steps: readonly StepStanding[]): string | undefined {
  const pools = steps.flatMap(({ id }) => /^pause-(?!health-check-)(.+)$/u.exec(id)?.[1] ?? [])
  if (name === 'pools paused' && pools.length > 0) return `${pools.join(', ')} (master never)`
  return steps.findLast((step) => step.note !== undefined)?.note
}

/** What is borrowed, as a person names it: `workloadUpdateMethods, 2 pools, 1 health check`. */
export function borrowedText(loans: readonly Pick<Loan, 'id'>[]): string {
  const count = (prefix: string) => loans.filter(({ id }) => id.startsWith(prefix)).length
  const [pools, checks] = [
    count('pool-paused/'),
    count('machine-health-check/') + count('node-health-check/'),
  ]
  const named = [
    count('workload-updates') > 0 && 'workloadUpdateMethods',
    pools > 0 && `${pools} ${pools === 1 ? 'pool' : 'pools'}`,
    checks > 0 && `${checks} ${checks === 1 ? 'health check' : 'health checks'}`,
    count('approval') > 0 && 'approval',
    count('platform-channel') > 0 && 'channel',
    count('desired-update') > 0 && 'desiredUpdate',
  ]
  return named.filter((one) => one !== false).join(', ')
}
