import type { Reader, Ref, Where } from '../../../../src/lib/kube/cluster.ts'
import type { Kind, KubeObject } from '../../../../src/lib/kube/object.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'

export interface Asked {
  reader: Reader
  /** `plural`, with what narrowed it: `configmaps/admin-gates`, `installplans in openshift-cnv`. */
  asked: string[]
}

/** Answers lists by plural and single objects by name; a plural with a number is refused with that status, any other is not served. */
export function answering(answers: Readonly<Record<string, readonly object[] | number>>): Asked {
  const asked: string[] = []
  const answer = (plural: string): readonly object[] => {
    const found = answers[plural] ?? 404
    if (typeof found === 'number') throw new ApiError(found, 'X', `${plural}: ${found}`)
    return found
  }
  const reader = {
    async list({ plural }: Kind, { namespace, labels }: Where = {}) {
      const where = [namespace && ` in ${namespace}`, labels && ` with ${labels}`].filter(Boolean).join('')
      asked.push(`${plural}${where}`)
      return answer(plural)
    },
    async *pages({ plural }: Kind) {
      asked.push(plural)
      yield { items: answer(plural), resourceVersion: '1' }
    },
    async get({ plural }: Kind, { name }: Ref) {
      asked.push(`${plural}/${name}`)
      const object = (answer(plural) as KubeObject[]).find(({ metadata }) => metadata.name === name)
      return object ? { is: 'object', object } : { is: 'absent' }
    },
  }
  return { reader: reader as unknown as Reader, asked }
}
