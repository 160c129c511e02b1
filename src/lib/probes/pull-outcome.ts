import type { ImageProbe } from '../facts/image-probe.ts'
import { pullFailure } from '../facts/pull-failure.ts'
import { shorten } from '../system/shorten.ts'

/** What became of one try. */
export type Outcome = Pick<ImageProbe, 'is' | 'why' | 'message'>

/** A pod that is gone says nothing. */
export const gone: Outcome = { is: 'untried', why: 'somebody deleted its pod' }

/** In a few words, with the text of the container runtime. */
export function refusedBy(text: string, why = pullFailure(text) ?? 'it cannot be pulled'): Outcome {
  return { is: 'refused', why, message: shorten(text) }
}

/** What no second try mends: in the words of `pullFailure`, or of the kubelet. */
const lasting: ReadonlySet<string> = new Set([
  'not found',
  'not allowed to pull it',
  'the certificate of the registry is not trusted',
  'not a valid image name',
  'InvalidImageName',
  'ErrImageNeverPull',
])

/** Whether waiting can help. */
export const isLasting = (why: string): boolean => lasting.has(why)
