import type { Candidate } from '../../../../src/lib/vms/waves/waves.ts'

/** A VM that is to be migrated, of no wave. */
export const aCandidate = (vm: string, more: Partial<Candidate> = {}): Candidate => ({
  vm,
  uid: vm,
  by: 'migration',
  wave: '',
  canary: false,
  memory: 0,
  bornAt: 0,
  ...more,
})
