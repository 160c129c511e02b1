import { expect, test } from 'vitest'
import type { Reader } from '../../../../src/lib/kube/cluster.ts'
import type { Kind } from '../../../../src/lib/kube/object.ts'
import { getHyperConverged } from '../../../../src/lib/openshift/hyperconverged.ts'
import { ApiError } from '../../../../src/lib/kube/errors.ts'
import { hyperConverged } from './hyperconverged.ts'

/** Answers each version as it is said. */
function serving(answers: Record<string, unknown[] | ApiError>): Reader {
  return {
    list: async ({ apiVersion }: Kind) => {
      const answer =
        answers[apiVersion.replace('hco.kubevirt.io/', '')] ?? new ApiError(404, 'NotFound', 'none')
      if (answer instanceof ApiError) throw answer
      return answer
    },
  } as unknown as Reader
}

const away = new ApiError(
  500,
  'InternalError',
  'conversion webhook for hco.kubevirt.io/v1, Kind=HyperConverged failed',
)

test.each<readonly [string, Record<string, unknown[] | ApiError>, object]>([
  ['v1beta1', { v1beta1: [hyperConverged()] }, { known: true, items: [{}] }],
  ['v1 alone', { v1: [hyperConverged()] }, { known: true, items: [{}] }],
  ['neither: none', {}, { known: true, items: [] }],
  ['several are told', { v1beta1: [hyperConverged(), hyperConverged()] }, { known: true, items: [{}, {}] }],
  [
    'nobody converts: the stored version is read',
    { v1beta1: away, v1: [hyperConverged()] },
    { known: true, items: [{}] },
  ],
  ['forbidden', { v1beta1: new ApiError(403, 'Forbidden', 'no') }, { known: false, why: 'no' }],
])('%s', async (_name, answers, expected) => {
  expect(await getHyperConverged(serving(answers))).toMatchObject(expected)
})

test('where no version can be read for lack of conversion it is no "none"', async () => {
  await expect(getHyperConverged(serving({ v1beta1: away, v1: away }))).rejects.toMatchObject({
    status: 500,
  })
  await expect(getHyperConverged(serving({ v1beta1: away }))).rejects.toMatchObject({ status: 500 })
})
