import { cannotBeUndone } from './backup/cannot-be-undone.ts'
import type { Check } from './check.ts'

/** What has to be safe before the first write. */
export const backupChecks: readonly Check[] = [cannotBeUndone]
