import type { StepContext } from '../../procedure/step.ts'
import { ourRequest } from './kept-request.ts'
import { readPlatform } from './read-platform.ts'
import { withdraw } from './update-accepted.ts'

export interface Leaving {
  /** Of the procedure. */
  name: string
  /** Leave it: it starts by itself. */
  leaveRequested: boolean
}

/**
 * On the way out of a run, whatever ends it: a request of ours that is refused would start by itself once nobody looks any more (night E6). One that the platform has
 * not judged yet stays. What was done, in a sentence; undefined where nothing was. Throws ApiError.
 */
export async function withdrawRefused(
  cx: StepContext,
  { name, leaveRequested }: Leaving,
): Promise<string | undefined> {
  if (leaveRequested) return undefined
  const seen = await readPlatform(cx.reader)
  const { accepted, current } = seen.standing
  if (accepted.is !== 'no' || !current) return undefined
  const ours = await ourRequest(cx.journal, name, seen)
  if (ours === undefined) return undefined
  await withdraw(cx, name)
  return `the request for ${ours.version} was refused (${accepted.reason}) and is taken back: it would start by itself later`
}
