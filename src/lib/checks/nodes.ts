import type { Check } from './check.ts'
import { controlPlaneLabel } from './nodes/control-plane-label.ts'
import { heartbeat } from './nodes/heartbeat.ts'
import { newGates } from './nodes/new-gates.ts'
import { nodeReady } from './nodes/node-ready.ts'
import { nodeSchedulable } from './nodes/node-schedulable.ts'
import { roomForSurge } from './nodes/room-for-surge.ts'
import { versionSkew } from './nodes/version-skew.ts'

/** Whether every node can follow, and the target has where to run. */
export const nodeChecks: readonly Check[] = [
  nodeReady,
  nodeSchedulable,
  heartbeat,
  controlPlaneLabel,
  newGates,
  roomForSurge,
  versionSkew,
]
