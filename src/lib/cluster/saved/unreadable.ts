import { usageError } from '../../system/errors.ts'

/** A file that is broken, and where. */
export function unreadable(file: string, line: number, why: string): Error {
  return usageError('snapshot-unreadable', `${file}:${line}: ${why}`, {
    object: file,
    remedy: 'save it again: kvup snapshot --to-file FILE',
  })
}
