import type { Reader } from '../cluster/cluster.ts'
import { beingDeleted } from '../facts/being-deleted.ts'
import { launcherImage } from '../facts/controller.ts'
import { type Installation, theInstallation } from '../facts/installation.ts'
import { kubeVirtDefinitions } from '../facts/kubevirt-definitions.ts'
import { causeParts, type Snapshot, standingParts, takeSnapshot } from '../facts/snapshot.ts'
import { type Standing, standing } from '../facts/standing.ts'
import type { Loan } from '../procedure/journal.ts'
import { compareVersions, type Version, versionOf } from '../releases/version.ts'
import type { Clock } from '../system/clock.ts'
import { forecastUpdates } from '../workloads/forecast.ts'
import { blocked, forbidden } from '../system/errors.ts'
import { roleRemedy } from '../system/role-remedy.ts'
import { isGuards } from '../workloads/update/hold-again.ts'
import { keptMethods, openLoan } from '../workloads/update-methods.ts'
import type { Seen } from './make-plan.ts'

interface Asked {
  /** Reads the journal of KubeVirt's namespace. */
  loansIn?: (namespace: string) => Promise<readonly Loan[]>
  /** Where KubeVirt is to go. */
  to?: Version
}

/**
 * Everything that a plan is made from. Throws `blocked` for no or several KubeVirts and one that is being deleted, `forbidden` where they may not be read.
 */
export async function seeForUpgrade(
  reader: Reader,
  clock: Clock,
  { loansIn, to }: Asked = {},
): Promise<Seen> {
  const snapshot = await takeSnapshot(reader, [...standingParts, ...causeParts], clock)
  const installation = theInstallation(snapshot)
  ensureStays(installation)
  ensureOperatorsSeen(snapshot)
  const loans = (await loansIn?.(installation.namespace)) ?? []
  const loan = uidsOf(installation)
    .map((uid) => openLoan(loans, uid))
    .find(Boolean)
  const methods = loan ? keptMethods(loan) : installation.workloadUpdateMethods
  const { kubevirt } = installation
  const nodes = snapshot.nodes.known ? snapshot.nodes.items : undefined
  const judged = standing(snapshot, clock.now())
  const [forecast, crds] = await Promise.all([
    forecastUpdates(reader, { kubevirt, methods, launcher: launcherImage(snapshot), nodes }),
    definitionsFor(to, judged, reader),
  ])
  return {
    installation,
    methods,
    ...(loan && isGuards(loan) && { heldForHarm: loan }),
    standing: judged,
    forecast,
    ...(crds && { crds }),
  }
}

/** Of a KubeVirt that stands still and is to go forward nothing depends on its CRDs, which are megabytes. */
async function definitionsFor(
  to: Version | undefined,
  { verdict, observed }: Standing,
  reader: Reader,
): Promise<Seen['crds']> {
  if (to === undefined) return undefined
  const now = versionOf(observed.version)
  const isForward = verdict === 'Settled' && now !== undefined && compareVersions(to, now) >= 0
  return isForward ? undefined : kubeVirtDefinitions(reader)
}

/** The methods are borrowed of the KubeVirt, or of the HyperConverged that owns it. */
function uidsOf({ uid, kubevirt }: Installation): readonly string[] {
  const owners = kubevirt.metadata.ownerReferences ?? []
  return [uid, ...owners.filter(({ kind }) => kind === 'HyperConverged').map((owner) => owner.uid)]
}

/** Nothing is borrowed for a KubeVirt that somebody takes away. */
function ensureStays({ namespace, kubevirt }: Installation): void {
  const going = beingDeleted('kubevirts', kubevirt)
  if (going === undefined) return
  const object = `kubevirts/${kubevirt.metadata.name} in namespace ${namespace}`
  throw blocked('kubevirt-deleting', going, { object, remedy: 'kvup status' })
}

/** Without them it would look as if there were no virt-operator. */
function ensureOperatorsSeen({ operators }: Snapshot): void {
  if (operators.known) return
  throw forbidden(
    'deployments-not-readable',
    `cannot tell which virt-operator there is: ${operators.why}. Nothing was changed`,
    { remedy: roleRemedy('kvup-upgrade') },
  )
}
