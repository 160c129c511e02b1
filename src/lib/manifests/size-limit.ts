import { usageError } from '../system/errors.ts'

/** Bytes. Ten release manifests would fit, a disk image does not. */
export const sizeLimit = 20_000_000

export function tooLarge(origin: string): Error {
  return usageError(
    'manifest-too-large',
    `${origin} is larger than ${sizeLimit / 1e6} MB: that is no release manifest`,
  )
}
