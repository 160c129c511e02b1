import type { Check } from './check.ts'
import { apiServices } from './machinery/api-services.ts'
import { certificates } from './machinery/certificates.ts'
import { leaderLeases } from './machinery/leader-leases.ts'
import { webhooksAnswering } from './machinery/webhooks-answering.ts'

/** Whether what every write goes through answers. */
export const machineryChecks: readonly Check[] = [apiServices, webhooksAnswering, certificates, leaderLeases]
