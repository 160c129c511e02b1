import type { Check } from './check.ts'
import { hopSupported } from './path/hop-supported.ts'
import { knownBad } from './path/known-bad.ts'
import { kubernetesSupported } from './path/kubernetes-window.ts'
import { zeroDowntime } from './path/zero-downtime.ts'

/** Whether there is a way from here to there. */
export const pathChecks: readonly Check[] = [hopSupported, kubernetesSupported, knownBad, zeroDowntime]
