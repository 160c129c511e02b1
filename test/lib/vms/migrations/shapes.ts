import type { VirtualMachineInstanceMigration } from '../../../../src/lib/kube/kinds/kubevirt-kinds.ts'
import { type Migration, migrationOf } from '../../../../src/lib/vms/migrations/migration.ts'

export const at = new Date('2026-11-20T07:00:00Z')
export const ago = (seconds: number) => new Date(at.getTime() - seconds * 1000).toISOString()

export interface Shape {
  name?: string
  vmi?: string
  namespace?: string
  phase?: string
  /** Seconds ago. */
  since?: number
  reason?: string
  conditions?: string[]
  annotations?: Record<string, string>
  labels?: Record<string, string>
}

let count = 0

/** A migration of KubeVirt's workload updater, unless its annotations say otherwise. */
export function object(shape: Shape = {}): VirtualMachineInstanceMigration {
  const { name = `m-${++count}`, vmi = 'web-1', namespace = 'demo', phase = 'Pending', since = 60 } = shape
  const annotations = shape.annotations ?? { 'kubevirt.io/workloadUpdateMigration': '' }
  const time = ago(since)
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      creationTimestamp: time,
      annotations,
      labels: shape.labels ?? {},
    },
    spec: { vmiName: vmi },
    status: {
      phase,
      conditions: (shape.conditions ?? []).map((type) => ({ type, status: 'True' })),
      phaseTransitionTimestamps: [{ phase, phaseTransitionTimestamp: time }],
      ...(shape.reason && { migrationState: { failed: true, failureReason: shape.reason } }),
    },
  }
}

export const migration = (shape: Shape = {}): Migration => migrationOf(object(shape))
