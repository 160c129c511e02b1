import type { HyperConverged } from '../../cluster/kinds/hyperconverged.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { NodeMaintenance } from '../../cluster/kinds/openshift.ts'
import type { InstanceTally } from '../../facts/instance-tally.ts'
import type { Known } from '../../facts/known.ts'
import type { FiringAlert } from '../../facts/openshift/firing-alerts.ts'
import type { PlatformSnapshot } from '../../facts/openshift/take-platform.ts'
import type { LifecycleSnapshot } from '../../facts/operator-lifecycle/take-lifecycle.ts'
import type { Loan } from '../../procedure/journal.ts'
import type { Forecast } from '../../workloads/forecast.ts'
import type { RemovedApi, VmOutage } from '../eus-plan.ts'

/** All that a plan is made from, as plain data. Every part is known, or not and why. */
export interface EusEvidence {
  at: Date
  platform: PlatformSnapshot
  lifecycle: LifecycleSnapshot
  hyperconverged: Known<HyperConverged>
  kubevirts: Known<KubeVirt>
  /** Open ones, of any procedure. */
  loans: Known<Loan>
  /** One item: the methods that are set on the HyperConverged, or were before kvup borrowed them. */
  methods: Known<readonly string[]>
  /** They are empty by a write of kvup that no open loan tells of: the journal was deleted, or somebody asked kvup for it. */
  emptiedByKvup: boolean
  /** One item. */
  instances: Known<InstanceTally>
  /** One item: what becomes of the VMs when the methods are given back at the end. */
  forecast: Known<Forecast>
  /** VMs whose eviction is denied for ever: `namespace/name`. */
  undrainable: Known<string>
  /** What becomes of each running VM while its only node reboots. Asked for on a single node only. */
  outages: Known<VmOutage>
  /** APIs that some later Kubernetes lacks, and that were asked for in the last 24 hours. */
  removedApis: Known<RemovedApi>
  /** Of the group that ended with 4.10 (ocp 6.12). */
  oldMaintenances: Known<NodeMaintenance>
  /** Of the standalone operator, which comes after it. */
  maintenances: Known<NodeMaintenance>
  /** One item: the newest signer of the certificates that kubelets know the API server by (ocp 3.6). Asked for before 4.14 only. */
  kubeletSigner: Known<{ begins: string; ends: string }>
  /** One item. */
  clusterUid: Known<string>
  /** Asked for where there is a platform. */
  alerts: Known<FiringAlert>
}
