import type { KvupError } from '../system/errors.ts'

/** A plan is shown without a manifest that cannot be fetched. By this method the manifest is the step, so that nobody can accept to go without it. */
export function notReadFinding(error: KvupError): {
  id: string
  level: 'not-checked'
  summary: string
  remedy: readonly string[]
} {
  return {
    id: 'manifest-not-read',
    level: 'not-checked',
    summary: `the operator manifest was not read: ${error.message}`,
    remedy: error.remedy,
  }
}
