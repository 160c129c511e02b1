import type { ApiError } from '../system/errors.ts'

/** A quota's, a policy's or a webhook's no, and a VM that is gone: of this VM, and no reason to end. No right to do it at all is none of these. */
export function refusesThisVm({ status, message }: ApiError): boolean {
  if (status === 404 || status === 422) return true
  return /admission webhook|denied (?:the )?request|exceeded quota|is being terminated/iu.test(message)
}
