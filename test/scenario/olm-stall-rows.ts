import { Jobs } from '../../src/lib/kube/kinds/workload-kinds.ts'
import {
  type InstallPlan,
  InstallPlans,
  PackageManifests,
  type Subscription,
  Subscriptions,
} from '../../src/lib/kube/kinds/operator-kinds.ts'
import type { OlmFaults } from '../../src/simulator/olm/olm-context.ts'
import { okdOlm } from '../../src/simulator/olm/olm-shape.ts'
import type { KubeObject } from '../../src/lib/kube/object.ts'
import type { StallRow } from './stall-rows.ts'

const inOlm =
  (faults: OlmFaults): StallRow['on'] =>
  ({ simulated }) => {
    const off = Object.fromEntries(Object.keys(faults).map((name) => [name, undefined]))
    simulated.faults.set(faults)
    return () => simulated.faults.set(off)
  }

/** Somebody deletes the Jobs that failed as well, as OLM wants it (ocp 7 #4). */
const unpackedAgain =
  (on: StallRow['on']): StallRow['on'] =>
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
  (on: StallRow['on']): StallRow['on'] =>
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
  (on: StallRow['on']): StallRow['on'] =>
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
  (on: StallRow['on']): StallRow['on'] =>
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

const hop = {
  shape: { methods: ['LiveMigrate'], workers: 1, controlPlanes: 1, olm: okdOlm() },
  to: '1.18.1',
  code: 4,
  knownTo: 'both',
} as const
const short = ['--timeout', '3m', '--stable-for', '5s'] as const
const describesSubscription =
  /^kubectl -n kubevirt-hyperconverged describe subscriptions?\.operators\.coreos\.com hco-operatorhub$/

/** What goes wrong with OLM, by the name of the fault. */
export const olmStallRows: Readonly<Record<string, readonly StallRow[]>> = {
  resolutionFailed: [
    {
      ...hop,
      name: 'the namespace cannot be resolved',
      flags: short,
      on: inOlm({ resolutionFailed: 'constraints not satisfiable: other.v1.0.0 and hco exclude each other' }),
      says: [/ResolutionFailed/, /constraints not satisfiable: other\.v1\.0\.0 and hco exclude each other/],
      prints: [describesSubscription],
    },
  ],
  bundleUnpackFailed: [
    {
      ...hop,
      name: 'the bundle is not unpacked',
      flags: ['--timeout', '15m', '--stable-for', '5s'],
      on: unpackedAgain(inOlm({ bundleUnpackFailed: 'pull access denied' })),
      says: [/BundleUnpackFailed/, /Reason: DeadlineExceeded, and Message: .*pull access denied/],
      prints: [describesSubscription, /^kubectl -n openshift-marketplace get jobs/],
    },
  ],
  planFailed: [
    {
      ...hop,
      name: 'the API server takes no step of the plan',
      code: 3,
      flags: short,
      on: carriedOutAgain(inOlm({ planFailed: "error validating existing CRs against new CRD's schema" })),
      says: [
        /install-\w+ .*failed, and OLM does not retry it/,
        /error validating existing CRs against new CRD's schema/,
      ],
      prints: [/^kubectl -n kubevirt-hyperconverged get installplan install-\w+ -o yaml$/],
    },
  ],
  csvFails: [
    {
      ...hop,
      name: 'a Deployment of the new operator never comes up',
      knownTo: 'upgrade',
      flags: ['--timeout', '15m', '--stable-for', '5s'],
      on: inOlm({ csvFails: true }),
      says: [
        /kubevirt-hyperconverged-operator\.v1\.18\.1 \((?:Installing\): waiting for deployment \S+ to become ready: .*|Pending\)|InstallReady\)); InstallCheckFailed: install timeout/,
      ],
      prints: [
        /^kubectl -n kubevirt-hyperconverged describe csv kubevirt-hyperconverged-operator\.v1\.18\.1$/,
      ],
    },
  ],
  held: [
    {
      ...hop,
      name: 'somebody holds the operator by its OperatorCondition',
      knownTo: 'upgrade',
      flags: short,
      on: inOlm({ held: 'a backup is under way' }),
      says: [/operatorconditions\/kubevirt-hyperconverged-operator\.v1\.17\.3 .*a backup is under way/],
      prints: [/^kubectl -n kubevirt-hyperconverged get operatorconditions?\.operators\.coreos\.com /],
    },
    {
      ...hop,
      name: 'it is held once its plan is approved, and OLM shows a finished update',
      flags: short,
      on: onceApproved(inOlm({ held: 'a backup is under way' })),
      says: [/kubevirt-hyperconverged-operator\.v1\.18\.1/, /not upgradeable: a backup is under way/],
      prints: [/^kubectl -n kubevirt-hyperconverged get operatorconditions?\.operators\.coreos\.com /],
    },
  ],
  catalogNotReady: [
    {
      ...hop,
      name: 'the catalog does not answer',
      flags: short,
      on: onceChannelIsSet(inOlm({ catalogNotReady: true })),
      says: [/community-operators .*is TRANSIENT_FAILURE/],
      prints: [/^kubectl -n openshift-marketplace get catalogsource community-operators -o yaml$/],
    },
  ],
}
