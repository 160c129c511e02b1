import { expect, test } from 'vitest'
import { apiError } from '../../../../src/lib/kube/http/api-error.ts'
import { failureOfSilence } from '../../../../src/lib/kube/http/failure.ts'

const to = { server: 'https://api:6443', file: undefined, context: 'prod', user: 'me', proxy: undefined }

/** As Node's TLS says it. */
const refused = (code: string, message: string) =>
  apiError(
    failureOfSilence(Object.assign(new Error(message), { code }), undefined),
    { verb: 'list', resource: 'nodes' },
    to,
  )

test.each([
  ['CERT_HAS_EXPIRED', 'certificate has expired'],
  ['CERT_NOT_YET_VALID', 'certificate is not yet valid'],
])('%s may be the fault of our clock, which nobody has put right yet', (code, message) => {
  const { remedy } = refused(code, message)
  expect(remedy).toEqual([expect.stringMatching(/^date -u {5}shows the clock of this computer/u)])
})

test('a certificate of an unknown authority has nothing to do with it', () => {
  const { remedy } = refused('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate')
  expect(remedy.join('\n')).toMatch(/--certificate-authority/u)
  expect(remedy.join('\n')).not.toMatch(/clock/u)
})
