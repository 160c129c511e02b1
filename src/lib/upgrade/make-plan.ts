import { atVersion } from '../cluster/kind.ts'
import type { CustomResourceDefinition } from '../cluster/kinds/extension.ts'
import { KubeVirts } from '../cluster/kinds/kubevirt.ts'
import type { Installation } from '../facts/installation.ts'
import type { Known } from '../facts/known.ts'
import type { Standing } from '../facts/standing.ts'
import type { Loan } from '../procedure/journal.ts'
import type { Releases } from '../releases/releases.ts'
import { type Forecast, forecastText } from '../workloads/forecast.ts'
import type { OlmGoal } from './olm/make-olm-plan.ts'
import { leftHeldText } from '../workloads/left-held.ts'
import { failuresTaken } from '../workloads/update/moves-watch.ts'
import type { Owner } from '../workloads/update-methods.ts'
import { wayBackOf } from './way-back.ts'
import { upgradeFindings } from './findings.ts'
import { commitsOf } from './follow.ts'
import { chooseMethod, tagTreatment } from './method.ts'
import type { UpgradePlan, UpgradeRequest } from './plan.ts'
import { refuseClosedWayBack } from './refuse-closed-way-back.ts'
import { refuseForeignOwner } from './refuse-foreign-owner.ts'
import { runsTarget } from './runs-target.ts'

/** What the cluster looked like when the plan was made. */
export interface Seen {
  installation: Installation
  standing: Standing
  /** The workload update methods as they will be in the end: those that are borrowed count as set. */
  methods: readonly string[]
  /** Held because VMs came to harm: this is not given back by an upgrade (night W5). */
  heldForHarm?: Pick<Loan, 'at' | 'by'>
  /** What they will do to all VMIs. */
  forecast: Forecast
  /** Those of KubeVirt; absent where it stands still and is not to go back. */
  crds?: Known<CustomResourceDefinition>
  /** By the method olm: where the operator is to end up. */
  olm?: OlmGoal
}

/** Pure. Throws `blocked` where somebody else owns the installation: nothing that kvup writes there would last. */
export function makePlan(request: UpgradeRequest, seen: Seen, releases: Releases): UpgradePlan {
  const { installation, standing } = seen
  refuseForeignOwner(installation, request)
  if (seen.olm) return makeOlmPlan(request, { ...seen, olm: seen.olm }, releases)
  refuseClosedWayBack(request.to, seen, releases)
  const method = chooseMethod(request.method, installation, request.to)
  const tag = tagTreatment(method, installation, request.to)
  const isRest = runsTarget({ to: request.to, method, request }, standing)
  const plan = {
    owner: ownerOf(installation),
    from: standing.observed.version,
    to: request.to,
    method,
    isRest,
    tag,
    wayBack: wayBackOf(request.to, seen, releases),
    holds: request.hold ? seen.methods : [],
    request,
    findings: upgradeFindings({ ...seen, request, method, tag, releases }),
    said: [...(isRest ? [] : beforehand(request.to.text)), ...afterwards(request, seen)],
  }
  return request.follow
    ? { ...plan, said: [...plan.said, ...commitsOf(plan).map((line, i) => `commit ${i + 1}: ${line}`)] }
    : plan
}

/** HyperConverged decides which KubeVirt is installed: the versions of the plan are those that its target brings. */
function makeOlmPlan(asked: UpgradeRequest, seen: Seen & { olm: OlmGoal }, releases: Releases): UpgradePlan {
  const { installation, standing, olm } = seen
  const request = { ...asked, to: olm.to }
  const method = 'olm'
  const tag = { is: 'none' } as const
  return {
    owner: ownerOf(installation),
    from: standing.observed.version,
    to: olm.to,
    method,
    isRest: olm.isThere,
    tag,
    wayBack: { is: 'closed', why: 'OLM knows no downgrade', later: [] },
    holds: request.hold ? seen.methods : [],
    request,
    findings: [...upgradeFindings({ ...seen, request, method, tag, releases }), ...olm.findings],
    said: [
      ...(olm.isThere ? [] : beforehand(olm.part.kubevirt ?? `HyperConverged ${olm.part.to}`)),
      ...olm.said,
      ...afterwards(request, seen),
    ],
    olm: olm.part,
  }
}

/** The KubeVirt CR that every step writes to, tied to its uid. */
export function ownerOf({ apiVersion, name, namespace, uid }: Installation): Owner {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  return { kind: atVersion(KubeVirts, version), ref: { name, namespace }, uid }
}

/** Night U5: said before the question, since nobody can undo it. */
function beforehand(to: string): readonly string[] {
  return [
    'consoles and VNC sessions drop once, when virt-api is replaced; VMs keep running',
    `APIs that are new in ${to} are refused until virt-api is replaced`,
  ]
}

/** Giving the methods back makes VMs move: said before the question (contract "Loans"). */
function afterwards(request: UpgradeRequest, seen: Seen): readonly string[] {
  const { methods, forecast, heldForHarm } = seen
  if (heldForHarm) return [leftHeldText(heldForHarm)]
  const moves = Object.values(forecast.counts).some((count) => count > 0)
  if (request.leaveHeld || methods.length === 0 || !moves) return []
  return [
    `workload updates then apply to the new version: KubeVirt ${forecastText(forecast)}`,
    ...(request.waitWorkloads ? [guarded(request)] : []),
  ]
}

/** What may be written while it is waited for VMs (night W5). */
const guarded = ({ follow }: UpgradeRequest): string =>
  `should ${failuresTaken} of them fail for one reason, or one VM run twice, ` +
  (follow ? 'kvup stops and says what to commit' : 'workload updates are held again, and kvup stops')
