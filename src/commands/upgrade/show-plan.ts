import { gatherEvidence } from '../../lib/facts/gather-evidence.ts'
import { manifestChanges } from '../../lib/manifests/changes.ts'
import { type ManifestDiff, manifestDiff } from '../../lib/manifests/manifest-diff.ts'
import { notInManifest } from '../../lib/manifests/missing.ts'
import type { PlanDocument } from '../../lib/output/views/upgrade-plan-document.ts'
import { nothingToDo } from '../../lib/procedure/nothing-to-do.ts'
import { rehearse, type RehearseContext } from '../../lib/procedure/rehearse.ts'
import { isBlocked } from '../../lib/run/gate.ts'
import { reliedOn, sealedParts } from '../../lib/seal/sealed-facts.ts'
import { heading } from '../../lib/upgrade/report.ts'
import type { TimeRange } from '../../lib/upgrade/time-range.ts'
import { withOlmFacts } from './olm-facts.ts'
import type { MadeFrom, Planned } from './planned.ts'
import { plannedTime, withTimes } from './planned-time.ts'
import { sealOf } from './seal-plan.ts'
import { sealedRequest } from './sealed-request.ts'

/**
 * The plan as a document: each step with what it would do, the findings, the seal, and `next` where there is something to do that would
 * not be refused. Nothing is written that the cluster keeps.
 */
export async function planDocument(
  planned: Planned,
  { reading, evidence }: MadeFrom,
  { mode, next }: { mode: RehearseContext['mode']; next: readonly string[] },
): Promise<PlanDocument> {
  const { cx, cluster, plan, procedure, findings, options } = planned
  const { signal, world } = cx
  const { reader } = reading
  const [steps, judgedBy, isThere, manifest] = await Promise.all([
    rehearse(procedure, { ...reading, cluster: { ...cluster, reader }, signal, mode }),
    evidence ?? gatherEvidence({ reader }, reading.clock, { only: sealedParts }),
    nothingToDo(procedure, reading),
    manifestPart(planned),
  ])
  const relied = await withOlmFacts(reliedOn(judgedBy, plan.owner.ref), reader, plan.olm)
  const range = await plannedTime(planned, reading, steps)
  const accepted = planned.accepted.map((risk) => ({ ...risk, by: world.who }))
  const mayBegin = !isThere && !isBlocked(findings, planned.accepted)
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UpgradePlan',
    dryRun: mode,
    ...heading(plan),
    ...(plan.path && { path: plan.path }),
    holds: plan.holds,
    said: isThere ? [] : plan.said,
    pending: !isThere,
    findings,
    accepted,
    steps: withTimes(steps, range),
    ...(range && { time: timeOf(range) }),
    ...(manifest && { manifest }),
    request: sealedRequest(options, plan.path ? chosenOnPath(planned) : chosenFor(planned)),
  } as const
  return { ...document, ...sealOf(document, relied, planned), next: mayBegin ? next : [] }
}

const chosenFor = ({ plan, manifest: { loaded } }: Planned) => ({
  method: plan.method,
  ...(loaded && { manifestSha256: loaded.sha256 }),
})

/** The releases between are kept as they were chosen, and a checksum for each manifest, in the words of the flags. */
function chosenOnPath({ plan, legs, options }: Planned) {
  const [first] = legs
  const sums = legs.flatMap(({ plan: { to }, manifest: { loaded } }) =>
    loaded ? [`${to.text}=${loaded.sha256}`] : [],
  )
  const between = legs.slice(0, -1).map(({ plan: { to } }) => to.text)
  const isOne = legs.every((leg) => leg.plan.method === first?.plan.method)
  return {
    method: isOne ? (first?.plan.method ?? plan.method) : options.method,
    via: options.via ?? between.join(','),
    ...(sums.length > 0 && { manifestSha256: sums.join(',') }),
  }
}

const timeOf = ({ lowSeconds, highSeconds, basis, says }: TimeRange) => ({
  lowSeconds,
  highSeconds,
  basis,
  says,
})

/** Undefined where none is applied, or where it could not be fetched. */
async function manifestPart({ cluster, manifest: { loaded } }: Planned): Promise<ManifestDiff | undefined> {
  if (loaded === undefined) return undefined
  const { manifest, sha256 } = loaded
  const [changes, left] = await Promise.all([
    manifestChanges(cluster.reader, manifest.objects),
    notInManifest(cluster.reader, manifest).catch(() => []),
  ])
  return manifestDiff(changes, left, { origin: manifest.origin, sha256 })
}
