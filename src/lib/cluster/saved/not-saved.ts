import { KvupError } from '../../system/errors.ts'
import { exitCode } from '../../system/exit-codes.ts'

/** A saved cluster was asked for what it does not hold: neither "there is none" nor "there is one" would be true. */
export class NotSavedError extends KvupError {
  override readonly name = 'NotSavedError'

  constructor(what: string, file: string) {
    super(exitCode.usage, 'not-saved', `${file} does not hold ${what}`, {
      remedy: 'kvup snapshot --to-file FILE      saves all that kvup looks at',
    })
  }
}
