import { expect } from 'vitest'
import {
  type VirtualMachineInstanceMigration,
  VirtualMachineInstanceMigrations,
  VirtualMachineInstances,
} from '../../src/lib/kube/kinds/kubevirt-kinds.ts'
import type { WorkloadsUpdateDocument } from '../../src/lib/vms/waves/wave-run.ts'
import type { VmShape } from '../../src/simulator/vm-shape.ts'
import { byTag, type Ended, play, type Stage } from './stage.ts'

/** Every VM is outdated, and nobody has moved any. */
export function outdated(
  vms: readonly VmShape[] | number,
  act: (stage: Stage) => Promise<void>,
  methods: readonly string[] = [],
): Promise<void> {
  return play({ ...byTag, workers: 3, methods, vms }, async (stage) => {
    const brief = { stableFor: '5s', leavePaused: methods.length > 0 }
    expect(await stage.upgrade('v1.8.4', brief)).toMatchObject({ code: 0 })
    await act(stage)
  })
}

export const documentOf = (ended: Ended) => ended.documents.at(-1) as unknown as WorkloadsUpdateDocument

/** In the order in which they were made. */
export function migrationsIn({ simulated }: Stage): readonly VirtualMachineInstanceMigration[] {
  const all = simulated.store.list(VirtualMachineInstanceMigrations).items
  return [...all]
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .sort((a, b) => madeAt(a) - madeAt(b))
}

export const madeAt = (migration?: VirtualMachineInstanceMigration) =>
  Date.parse(migration?.metadata.creationTimestamp ?? '')

const endAt = ({ status }: VirtualMachineInstanceMigration) =>
  Date.parse(status?.migrationState?.endTimestamp ?? '')

/** The most that were under way at a time. */
export function overlaps(stage: Stage): number {
  const all = migrationsIn(stage)
  return Math.max(
    ...all.map(
      (one) => all.filter((other) => madeAt(other) <= madeAt(one) && endAt(other) > madeAt(one)).length,
    ),
  )
}

export function labelled(stage: Stage, name: string, labels: object, spec: object = {}): void {
  const body = { metadata: { labels }, spec }
  const ref = { name, namespace: 'demo' }
  stage.simulated.store.patch(VirtualMachineInstances, ref, { type: 'merge', body }, { manager: 'test' })
}
