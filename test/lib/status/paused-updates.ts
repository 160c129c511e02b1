import type { Override } from '../../../src/lib/engine/journal.ts'

/** Automatic VM updates of `kubevirt/kubevirt` that root@jump paused, from LiveMigrate; `more` says when and for what. */
export const pausedUpdates = (more: Pick<Override, 'procedure' | 'at'> & Partial<Override>): Override => ({
  id: 'workload-updates',
  object: {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    name: 'kubevirt',
    namespace: 'kubevirt',
    uid: 'u',
  },
  path: '/spec/workloadUpdateStrategy/workloadUpdateMethods',
  was: { present: true, value: ['LiveMigrate'] },
  by: 'root@jump',
  ...more,
})
