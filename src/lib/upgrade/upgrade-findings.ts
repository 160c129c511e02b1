import type { CustomResourceDefinition } from '../kube/kinds/extension-kinds.ts'
import { type Installation, managerOf, placeOf } from '../kubevirt/installation.ts'
import type { Known } from '../kube/known.ts'
import type { RolloutStatus } from '../kubevirt/rollout-status.ts'
import {
  type HopFinding,
  hopFindings,
  type Method,
  operatorRule,
  pinnedTagRule,
  warning,
  blocker,
} from '../releases/hop-findings.ts'
import type { Releases } from '../releases/releases.ts'
import { versionOf } from '../releases/release-versions.ts'
import { evictionFinding, type Forecast } from '../vms/forecast/vm-forecast.ts'
import type { TagTreatment, UpgradeRequest } from './upgrade-plan.ts'
import { runningFindings, runningUpdate, unknownDowngrade } from './rollback.ts'
import { spanText } from '../kube/duration.ts'

/** All that a plan is judged by. */
interface Question {
  installation: Installation
  rolloutStatus: RolloutStatus
  crds?: Known<CustomResourceDefinition>
  request: UpgradeRequest
  method: Method
  tag: TagTreatment
  /** The workload update methods as they will be in the end. */
  methods: readonly string[]
  /** What the methods will do to all VMIs once they are outdated and the methods are given back. */
  forecast: Forecast
  releases: Releases
}

/** Everything that speaks against this upgrade or should be known, in the order in which it is printed. Pure. */
export function upgradeFindings(question: Question): readonly HopFinding[] {
  const { rolloutStatus, request, forecast } = question
  return [
    ...(question.method === 'olm' ? [] : hops(question)),
    ...(question.method === 'olm' ? [] : runningFindings(rolloutStatus, request.to, forecast.onLauncher)),
    ...(question.method === 'olm' ? [] : operator(question)),
    ...(question.method === 'olm' ? [] : unknownDowngrade(request.to, question, question.releases)),
    ...pinnedImages(question),
    ...idleOperator(question),
    ...drained(forecast.evacuating),
    ...evictions(question),
    ...foreignOwner(question),
    ...registryOfCr(question),
    ...notPaused(question),
  ]
}

/** The version policy looks at where we come from; leaving a half-done update is judged by how far it came. */
function hops({ rolloutStatus, request: { to }, releases }: Question): readonly HopFinding[] {
  const from = versionOf(rolloutStatus.observed.version)
  if (from === undefined)
    return warning({
      id: 'never-healthy',
      summary: 'no version was ever completely installed',
      remedy: ['kvup status'],
    })
  const direction = runningUpdate(rolloutStatus, to)
  return direction === 'none' || direction === 'joined' || direction === 'untouched'
    ? hopFindings(from, to, releases)
    : []
}

function operator(question: Question): readonly HopFinding[] {
  const { installation, method, tag, request } = question
  const { to } = request
  const runs = versionOf(installation.operator?.version)
  if (runs === undefined)
    return blocker({
      id: 'operator-unknown',
      summary:
        'the Deployment of virt-operator does not show its version, so kvup cannot judge what it can install',
      remedy: [`kubectl -n ${installation.namespace} get deployment virt-operator -o yaml`],
    })
  const pinned = tag.is === 'pin' ? versionOf(tag.tag) : undefined
  const rule = isBackBeforeIt(question) ? [] : operatorRule(runs, to, method)
  return [...rule, ...(pinned ? pinnedTagRule(pinned, to) : [])]
}

/** The new operator never took over, so that the old one comes back to what it left: free (night U4). */
function isBackBeforeIt({ installation, method, request: { to } }: Question): boolean {
  const spoke = versionOf(installation.kubevirt.status?.operatorVersion)
  return method === 'operator-manifest' && spoke?.text === to.text
}

/** Images fixed by the operator's environment win over imageTag: the tag would change words only (facts 2.1). */
function pinnedImages({ installation, method, request }: Question): readonly HopFinding[] {
  const pinned = installation.operator?.pinned ?? []
  if (method !== 'image-tag' || pinned.length === 0) return []
  return blocker({
    id: 'images-pinned',
    summary: `the environment of virt-operator sets ${pinned.map((p) => p.env).join(', ')}: imageTag changes the recorded version, not the images`,
    remedy: [`kvup upgrade --to ${request.to.text} --method operator-manifest`],
  })
}

function drained(evacuating: readonly string[]): readonly HopFinding[] {
  if (evacuating.length === 0) return []
  return blocker({
    id: 'node-drained',
    summary: `${evacuating.length === 1 ? '1 VM is' : `${evacuating.length} VMs are`} leaving a drained node: the rollout of virt-handler kills these migrations`,
    objects: evacuating.slice(0, 20),
    remedy: [
      "kubectl get vmi -A -o jsonpath='{.items[*].status.evacuationNodeName}'     names the nodes, and nothing once the drain has ended",
    ],
  })
}

/** Once given back, or at once where they are not held, the methods apply to the new version. */
function evictions({ forecast, methods, request }: Question): readonly HopFinding[] {
  const stayPaused = request.hold && request.leavePaused
  return stayPaused ? [] : evictionFinding(methods, forecast)
}

/** Helm or GitOps sets back what is written to its objects (night U8). */
function foreignOwner({ installation: { manager }, request }: Question): readonly HopFinding[] {
  if (request.follow || (manager.kind !== 'helm' && manager.kind !== 'gitops')) return []
  const owner = [manager.owner ?? manager.kind, manager.name].filter(Boolean).join(' ')
  return blocker({
    id: `managed-by-${manager.kind}`,
    summary: `KubeVirt belongs to ${owner}: its next sync reverts what kvup writes`,
    remedy: [
      `kvup upgrade --to ${request.to.text} --follow     writes nothing: shows what to commit, then waits and checks`,
    ],
  })
}

/** The CR's imageRegistry wins over that of the operator (facts 2.1, night U3): a manifest cannot change it. */
function registryOfCr({ installation, method, request }: Question): readonly HopFinding[] {
  const { imageRegistry: set, imageTag, name, namespace } = installation
  const asked = request.imageRegistry
  if (method !== 'operator-manifest' || imageTag !== undefined) return []
  if (asked === undefined || set === undefined || set === asked) return []
  const place = placeOf(managerOf(installation.kubevirt))
  return blocker({
    id: 'registry-set',
    summary: `the KubeVirt resource sets imageRegistry ${set}, which overrides the ${asked} that was requested`,
    remedy: [
      place === ''
        ? `kubectl -n ${namespace} patch kubevirt ${name} --type=merge -p '{"spec":{"imageRegistry":"${asked}"}}'     then run this again`
        : `set spec.imageRegistry: "${asked}"${place}, then run this again`,
    ],
  })
}

/** KubeVirt moves VMs as soon as it may, also between two rolls of virt-handler (facts 2.8). */
function notPaused({ request, methods }: Question): readonly HopFinding[] {
  if (request.hold || methods.length === 0) return []
  return warning({
    id: 'updates-not-paused',
    summary: `automatic VM updates (${methods.join(', ')}) are not paused: migrations during the rollout of virt-handler may fail`,
    remedy: ['omit --no-pause-updates'],
  })
}

/** Nobody would act on the tag. A manifest brings its own number of replicas. */
function idleOperator({ rolloutStatus, method, installation }: Question): readonly HopFinding[] {
  if (method !== 'image-tag' || rolloutStatus.operator?.desired !== 0) return []
  return blocker({
    id: 'operator-not-running',
    summary: 'the virt-operator Deployment is scaled to 0 replicas: nothing would process the tag',
    standsAt: 'virt-operator',
    remedy: [`kubectl -n ${installation.namespace} scale deployment virt-operator --replicas=2`],
  })
}

/** A login that ends before the run is expected to is said at the start (night U9). `estimateMs`: of all steps together. */
export function credentialsFinding(
  end: Date | undefined,
  now: Date,
  estimateMs: number,
): readonly HopFinding[] {
  if (end === undefined || end.getTime() > now.getTime() + estimateMs) return []
  const left = spanText(Math.max(0, end.getTime() - now.getTime()))
  return warning({
    id: 'credentials-end',
    summary: `your credentials expire at ${end.toISOString()}, in ${left}; the upgrade is expected to take ${spanText(estimateMs)}`,
    remedy: [
      'log in again before you start; if they expire during the run, log in elsewhere and run the same line again',
    ],
  })
}
