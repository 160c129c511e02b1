import { Jobs } from '../../src/lib/kube/kinds/workload-kinds.ts'
import {
  type InstallPlan,
  InstallPlans,
  PackageManifests,
  type Subscription,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import type { Way } from './stall-rows.ts'

/** Somebody deletes the Jobs that failed as well, as OLM wants it (ocp 7 #4). */
const unpackedAgain =
  (on: Way): Way =>
  (stage) => {
    const off = on(stage)
    return () => {
      off()
      const { store } = stage.simulated
      for (const { metadata } of store.list(Jobs, { namespace: 'openshift-marketplace' }).items)
        store.remove(Jobs, metadata)
    }
  }

/** When the channel of the plan is set: what the catalog has was seen, and OLM has not made an InstallPlan of it. Whoever goes on waits until its packages are shown again. */
const onceChannelIsSet =
  (on: Way): Way =>
  (stage) => {
    const { store } = stage.simulated
    const shown = store.list(PackageManifests).items
    let off: (() => void) | undefined
    const stop = store.watch(Subscriptions, ({ object }) => {
      if ((object as Subscription).spec?.channel !== 'stable-v1.18') return
      stop()
      queueMicrotask(() => (off = on(stage)))
    })
    return () => {
      off?.()
      const there = new Set(store.list(PackageManifests).items.map(nameIn))
      for (const one of shown) if (!there.has(nameIn(one))) store.create(PackageManifests, one)
    }
  }

const nameIn = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`

/** OLM never tries a failed plan again, nor makes another one (olm-real 4): somebody has it carried out by hand, in its status. */
const carriedOutAgain =
  (on: Way): Way =>
  (stage) => {
    const off = on(stage)
    return () => {
      off()
      const { store } = stage.simulated
      for (const { metadata, status } of store.list(InstallPlans).items as InstallPlan[]) {
        const body = { status: { phase: 'Installing', startTime: null } }
        if (status?.phase === 'Failed')
          store.patch(InstallPlans, metadata, { type: 'merge', body }, { on: 'status' })
      }
    }
  }

/** When the plan has been approved, and before its steps are done. */
const onceApproved =
  (on: Way): Way =>
  (stage) => {
    let off: (() => void) | undefined
    const stop = stage.simulated.store.watch(InstallPlans, ({ object }) => {
      const { status }: InstallPlan = object
      if (status?.phase !== 'Installing') return
      stop()
      queueMicrotask(() => (off = on(stage)))
    })
    return () => off?.()
  }

/** When a fault of OLM comes on, or what else ends it. */
export const olmWays = { unpackedAgain, onceChannelIsSet, carriedOutAgain, onceApproved }
