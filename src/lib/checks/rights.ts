import type { Check } from './check.ts'
import { operatorRights } from './rights/operator-rights.ts'
import { rbacDiff } from './rights/rbac-diff.ts'
import { rights } from './rights/rights.ts'

/** Whether we, and virt-operator, may do what it takes. */
export const rightsChecks: readonly Check[] = [rights, operatorRights, rbacDiff]
