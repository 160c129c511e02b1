import type { ManagedField } from '../object.ts'

const appliers = new Set([
  'before-first-apply',
  'kubectl',
  'kubectl-client-side-apply',
  'kubectl-create',
  'kubectl-last-applied',
  'kubectl-replace',
])

/** How the whole object got there: what these set and the manifest no longer has is to go, as kubectl does it. */
export function isApplier({ manager = '', subresource = '' }: ManagedField): boolean {
  return appliers.has(manager) && subresource === ''
}
