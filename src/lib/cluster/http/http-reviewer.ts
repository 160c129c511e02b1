import type { Access, Reviewer, Writer } from '../cluster.ts'
import { isNotFound } from '../../system/errors.ts'
import { patientQuestions } from './backoff.ts'
import type { Requests } from './requests.ts'

interface AccessReview {
  status?: { allowed?: boolean; reason?: string; evaluationError?: string }
}
interface SubjectReview {
  status?: { userInfo?: { username?: string } }
}

/** Questions to the server about ourselves. They are POSTs that change nothing, so they are repeated like reads. */
export class HttpReviewer implements Reviewer {
  readonly rehearsal: Writer
  readonly #requests: Requests

  constructor(requests: Requests, rehearsal: Writer) {
    this.#requests = requests
    this.rehearsal = rehearsal
  }

  async can(access: Access): Promise<{ allowed: boolean; reason: string }> {
    const { status } = await this.#review<AccessReview>(
      'authorization.k8s.io/v1',
      'SelfSubjectAccessReview',
      {
        resourceAttributes: access,
      },
    )
    return { allowed: status?.allowed === true, reason: status?.reason || status?.evaluationError || '' }
  }

  async whoAmI(): Promise<string | undefined> {
    try {
      const { status } = await this.#review<SubjectReview>('authentication.k8s.io/v1', 'SelfSubjectReview')
      return status?.userInfo?.username
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  #review<T>(apiVersion: string, kind: string, spec?: object): Promise<T> {
    const resource = `${kind.toLowerCase()}s`
    return this.#requests.json<T>({
      method: 'POST',
      path: `/apis/${apiVersion}/${resource}`,
      subject: { verb: 'create', resource: `${resource}.${apiVersion.split('/')[0]}`, changesNothing: true },
      patience: patientQuestions,
      tryAtMost: 10_000,
      body: { apiVersion, kind, ...(spec && { spec }) },
    })
  }
}
