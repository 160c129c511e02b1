import { ApiError } from '../../system/errors.ts'
import { type Answer, header } from './answer.ts'
import type { Failure } from './failure.ts'
import { isServerVersion } from './shape.ts'

/** What an API server puts on all that it answers, whatever that is (apiserver, `WithAuditInit` and `WithPriorityAndFairness`). */
const marks = ['audit-id', 'x-kubernetes-pf-flowschema-uid']

export const isMarked = (answer: Pick<Answer, 'headers'>): boolean =>
  marks.some((name) => header(answer, name) !== undefined)

/** What every Kubernetes API says of itself to everybody. */
export const versionPath = '/version'

/** The `statusReason` that an ApiError carries when whoever answered is no API server. */
export const notKubernetes = 'NotKubernetes'

/** Whether an API server is behind an address at all. Asked of it only where a 404 or the like without its marks leaves that open. */
export class ServerBehind {
  readonly #askVersion: () => Promise<string>
  #marked = false
  #is: Promise<boolean> | undefined

  constructor(askVersion: () => Promise<string>) {
    this.#askVersion = askVersion
  }

  /** What comes without the marks of a server that has them may be somebody else's. */
  heard(answer: Answer): void {
    this.#marked ||= isMarked(answer)
  }

  /** A 404 that a server would have marked: it may be there again at the next try. */
  hasLost({ status, foreign }: Pick<Failure, 'status' | 'foreign'>): boolean {
    return this.#marked && foreign === true && status === 404
  }

  /** Rejects where that cannot be told now. */
  async isKubernetes(): Promise<boolean> {
    if (this.#marked) return this.#look()
    this.#is ??= this.#look()
    try {
      const is = await this.#is
      if (!is) this.#is = undefined
      return is
    } catch (error) {
      this.#is = undefined
      throw error
    }
  }

  async #look(): Promise<boolean> {
    try {
      return isVersion(await this.#askVersion())
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 401 || error.status === 403) return true
      if (error.statusReason === notKubernetes) return false
      throw error
    }
  }
}

function isVersion(text: string): boolean {
  try {
    return isServerVersion(JSON.parse(text))
  } catch {
    return false
  }
}
