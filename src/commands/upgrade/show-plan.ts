import { randomUUID } from 'node:crypto'
import { gatherEvidence } from '../../lib/facts/gather-evidence.ts'
import { manifestChanges } from '../../lib/manifests/changes.ts'
import { type ManifestDiff, manifestDiff } from '../../lib/manifests/manifest-diff.ts'
import { notInManifest } from '../../lib/manifests/missing.ts'
import type { PlanDocument } from '../../lib/output/views/upgrade-plan-document.ts'
import { nothingToDo } from '../../lib/procedure/nothing-to-do.ts'
import { rehearse, type RehearseContext, type RehearsedStep } from '../../lib/procedure/rehearse.ts'
import { isBlocked } from '../../lib/run/gate.ts'
import { type Becomes, sealed, type Seal, type SealedFact } from '../../lib/seal/seal.ts'
import { type Relied, reliedOn, sealedParts } from '../../lib/seal/sealed-facts.ts'
import { heading } from '../../lib/upgrade/report.ts'
import type { TimeRange } from '../../lib/upgrade/time-range.ts'
import type { MadeFrom, Planned } from './planned.ts'
import { plannedTime, withTimes } from './planned-time.ts'
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
  const { cx, cluster, plan, procedure, findings } = planned
  const { signal, world } = cx
  const { reader } = reading
  const [steps, judgedBy, isThere, manifest] = await Promise.all([
    rehearse(procedure, { ...reading, cluster: { ...cluster, reader }, signal, mode }),
    evidence ?? gatherEvidence({ reader }, reading.clock.now(), { only: sealedParts }),
    nothingToDo(procedure, reading),
    manifestPart(planned),
  ])
  const relied = reliedOn(judgedBy, plan.owner.ref)
  const range = await plannedTime(planned, reading, steps)
  const accepted = planned.accepted.map((risk) => ({ ...risk, by: world.who }))
  const mayBegin = !isThere && !isBlocked(findings, planned.accepted)
  const document = {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'UpgradePlan',
    dryRun: mode,
    ...heading(plan),
    holds: plan.holds,
    said: isThere ? [] : plan.said,
    pending: !isThere,
    findings,
    accepted,
    steps: withTimes(steps, range),
    ...(range && { time: timeOf(range) }),
    ...(manifest && { manifest }),
    ...sealedPart(relied, { planned, steps, accepted }),
    next: mayBegin ? next : [],
  } as const
  return document
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

/** What the plan asks for, and the seal over it. */
function sealedPart(
  relied: Relied,
  { planned, steps, accepted }: { planned: Planned; steps: readonly RehearsedStep[]; accepted: unknown },
) {
  const { options, plan, manifest } = planned
  const request = sealedRequest(options, {
    method: plan.method,
    ...(manifest.loaded && { manifestSha256: manifest.loaded.sha256 }),
  })
  const covered = { request, accepted, steps: steps.map(({ id }) => id) }
  return { request, ...sealOf(relied, { planned, steps, covered }) }
}

interface Covered {
  request: unknown
  accepted: unknown
  steps: readonly string[]
}

/** Without the uid of kube-system nothing would tell for which cluster it is: no seal then, and why. */
function sealOf(
  relied: Relied,
  { planned, steps, covered }: { planned: Planned; steps: readonly RehearsedStep[]; covered: Covered },
): { seal: Seal } | Record<string, never> {
  const { cx } = planned
  if (relied.cluster === undefined) {
    cx.printer.warn(
      'the plan is not sealed: the namespace kube-system may not be read, so no uid tells the cluster',
    )
    return {}
  }
  const seal = sealed(
    {
      uid: randomUUID(),
      at: cx.clock.now().toISOString(),
      by: cx.world.who,
      cluster: relied.cluster,
      kvup: cx.world.version,
      facts: relied.facts.map((fact) => withResults(fact, steps)),
      unsealed: relied.unsealed,
    },
    covered,
  )
  return { seal }
}

/** The facts that are specs of one object, and the kind of it. */
const kindOf: Readonly<Record<string, string>> = { kubevirt: 'KubeVirt', operator: 'Deployment' }

function withResults(fact: SealedFact, steps: readonly RehearsedStep[]): SealedFact {
  const kind = kindOf[fact.id]
  if (kind === undefined) return fact
  const becomes = steps.flatMap(({ id, changes = [] }) =>
    changes
      .filter(({ object }) => object.kind === kind)
      .map(({ fields, by }): Becomes => ({ step: id, by, fields })),
  )
  return becomes.length === 0 ? fact : { ...fact, becomes }
}
