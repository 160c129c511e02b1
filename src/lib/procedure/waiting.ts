import type { StepState } from './step.ts'

/** A step that is not done, and of which nothing is to be changed. */
export type Waiting = Extract<StepState, { is: 'waiting' | 'stalled' }>

export const isWaiting = (state: StepState): state is Waiting =>
  state.is === 'waiting' || state.is === 'stalled'

/** Whether the watches told what the cluster says; ages and counts move on by themselves. */
export function saysTheSame(seen: Waiting, state: StepState): boolean {
  if (!isWaiting(state)) return false
  return seen.is === state.is && seen.on.replaceAll(/\d+/g, '') === state.on.replaceAll(/\d+/g, '')
}
