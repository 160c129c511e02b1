import type { Used } from '../../lib/upgrade/workloads-access.ts'
import { restartable } from '../../lib/workloads/restarts/ask-restart.ts'

/** To ask virt-api for the restart of a VM. */
export const restartRight: Used = { kind: restartable, verb: 'update', subresource: 'restart' }
