import type { PathStep } from '../../lib/upgrade/path-procedure.ts'
import type { Context } from '../../context.ts'
import { allChecks, runChecks } from '../../lib/checks/check-run.ts'
import { type Check, type Finding, passGate } from '../../lib/checks/check-definition.ts'
import type { SnapshotPart } from '../../lib/kubevirt/full-snapshot.ts'
import { hasBegun } from '../../lib/upgrade/upgrade-plan.ts'
import { acceptedRisks } from '../../lib/checks/explanations.ts'
import { readCheckedCluster } from '../check/checked-cluster.ts'
import { askAboutMissing } from '../run-change.ts'
import { windowOpenFinding } from '../../lib/eus/window.ts'
import type { Checked, PlanJudge, ToCheck } from '../../lib/upgrade/plan/planned-upgrade.ts'
import type { RolloutStatus } from '../../lib/kubevirt/rollout-status.ts'
import { type Version, versionOf } from '../../lib/releases/release-versions.ts'
import type { OlmPart } from '../../lib/upgrade/methods/olm-plan.ts'
import { crdStoredVersions } from '../../lib/checks/groups/target-checks.ts'
import { newGates } from '../../lib/checks/groups/node-checks.ts'
import { hopSupported, knownBad, kubernetesSupported } from '../../lib/checks/groups/path-checks.ts'

/**
 * What all checks of `kvup check` say against a plan. Nothing once its update has begun, for the checks judge a cluster that stands still, and
 * stopping half-way is worse; the rights of this user are asked for right before the first write.
 */
async function checked({ cx, plan, upgradeState, releases, loans, manifest }: ToCheck): Promise<Checked> {
  if (hasBegun(plan, upgradeState, loans)) return { findings: [] }
  const target = plan.olm === undefined ? plan.to : nearTarget(plan.olm, plan.to, upgradeState.rolloutStatus)
  const snapshot = await readCheckedCluster(cx, { to: target, method: plan.method, without: 'rights' })
  const question = {
    ...snapshot,
    releases,
    ...(target && { target }),
    ...(manifest && { manifest: manifest.manifest.objects }),
  }
  const checks = allChecks.filter(({ id }) => !judgedElsewhere.has(id))
  const results = runChecks(checks, question)
  return {
    findings: results.flatMap(({ findings }) => findings.map(unlessUnseen)),
    snapshot: snapshot.snapshot,
  }
}

/** Whoever owns the installation is the plan's own business; so are the rights, right before the first write. */
const judgedElsewhere: ReadonlySet<string> = new Set(['rights', 'manager'])

/** Rights that only checks use may be missing (contract "Rights"): it is said, and does not stop whoever is allowed to do the work. */
function unlessUnseen(finding: Finding): Finding {
  return finding.level === 'not-checked' ? { ...finding, level: 'warning' } : finding
}

/**
 * By OLM the checks judge one minor of KubeVirt at most: it goes through those in between, each a hop of its own. Undefined where it is further, or not known
 * which KubeVirt it is: then they judge what is there.
 */
export function nearTarget(
  { kubevirt }: Pick<OlmPart, 'kubevirt'>,
  to: Version,
  { observed }: Pick<RolloutStatus, 'observed'>,
): Version | undefined {
  const from = versionOf(observed.version)
  const isNear = from !== undefined && from.major === to.major && to.minor - from.minor <= 1
  return kubevirt !== undefined && isNear ? to : undefined
}

/** What of the checks can be told of a step whose beginning is not reached yet: they look at releases, and at what no upgrade changes. */
const foretold: readonly Check[] = [hopSupported, knownBad, kubernetesSupported, crdStoredVersions, newGates]

/** What has to be read of the cluster for them. */
const foretoldParts: readonly SnapshotPart[] = foretold.flatMap(({ needs }) => needs)

/** What `kvup plan` and `kvup upgrade` are judged by. */
export const planJudge = (cx: Pick<Context, 'prompt'>): PlanJudge => ({
  accepted: acceptedRisks,
  checked,
  foretold: (question) => runChecks(foretold, question).flatMap(({ findings }) => findings),
  foretoldParts,
  notWaitedFor,
  gate: passGate,
  windowOpen: windowOpenFinding,
  askAboutMissing: (journal, accepted) =>
    askAboutMissing(journal, cx, { accept: accepted.map(({ id }) => id) }),
})

/** In a path a blocker, by the name of the check that tells the same of VMs that run. */
function notWaitedFor(steps: readonly PathStep[]): Finding {
  const last = steps.at(-1)?.to ?? ''
  return {
    id: 'launcher-age',
    level: 'blocker',
    summary: `with --between none VMs are not waited for between the ${steps.length} steps to ${last}: they may run a virt-launcher ${steps.length} minors older, and upstream tests migrations from the minor before only`,
    remedy: ['leave --between none out'],
  }
}
