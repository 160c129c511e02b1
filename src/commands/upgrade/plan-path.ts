import type { Context } from '../../context.ts'
import type { Finding } from '../../lib/checks/finding.ts'
import type { AcceptedRisk } from '../../lib/checks/report.ts'
import type { Cluster, Reader } from '../../lib/cluster/cluster.ts'
import { oneLook } from '../../lib/cluster/one-look.ts'
import type { Evidence } from '../../lib/facts/evidence.ts'
import { gatherEvidence } from '../../lib/facts/gather-evidence.ts'
import { manifestSource, originOf } from '../../lib/manifests/source.ts'
import type { Procedure } from '../../lib/procedure/step.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import { type Hands } from '../../lib/run/carry-out.ts'
import { passGate } from '../../lib/run/gate.ts'
import { sealedParts } from '../../lib/seal/sealed-facts.ts'
import { blocked, KvupError } from '../../lib/system/errors.ts'
import { shellWord } from '../../lib/system/shell-word.ts'
import { withoutFlags, wordsOf } from '../../lib/system/typed-line.ts'
import { hasBegun } from '../../lib/upgrade/has-begun.ts'
import { makePlan } from '../../lib/upgrade/make-plan.ts'
import { type PathLeg, pathProcedure } from '../../lib/upgrade/path/path-procedure.ts'
import type { UpgradePlan, UpgradeRequest } from '../../lib/upgrade/plan.ts'
import { seeForUpgrade } from '../../lib/upgrade/see.ts'
import { carryingOut } from './carry-out-lines.ts'
import type { Foreseen, ForeseenLeg } from './foresee-path.ts'
import { checked, together } from './judge.ts'
import { foretoldParts, judgePath } from './judge-path.ts'
import type { UpgradeOptions } from './options.ts'
import { optionsOfLeg, type PreparedManifest, prepareManifest } from './prepare-manifest.ts'

/** A step of an upgrade path with the manifest of its release. */
export interface PlannedLeg extends ForeseenLeg {
  manifest: PreparedManifest
}

interface Along {
  cx: Context
  cluster: Cluster
  options: UpgradeOptions
  request: UpgradeRequest
  releases: Releases
  accepted: readonly AcceptedRisk[]
  readNow: boolean
  /** Of the first step. */
  manifest: PreparedManifest
  /** Of the first step. */
  findings: readonly Finding[]
  /** What its checks were judged by; none where it has begun. */
  evidence: Evidence | undefined
  /** Of one look. */
  reader: Reader
  hands: Pick<Hands, 'journal' | 'emit'>
}

interface PlannedPath {
  plan: UpgradePlan
  legs: readonly PlannedLeg[]
  procedure: Procedure
  findings: readonly Finding[]
  now: () => UpgradePlan
}

/** The whole path as one plan with one procedure: what is known now of each of its steps, and how each is looked at again when its turn comes. */
export async function alongPath(foreseen: Foreseen, along: Along): Promise<PlannedPath> {
  const { cx, request, releases, accepted, findings: first } = along
  const {
    evidence = await gatherEvidence({ reader: along.reader }, cx.clock, {
      only: [...sealedParts, ...foretoldParts],
    }),
  } = along
  const [near] = foreseen.legs
  const { legs, missing = foreseen.missing } = await withManifests(foreseen, along)
  const isUnderWay = hasBegun(near.plan, near.seen, [])
  const { path, findings, said, end } = judgePath({
    evidence,
    releases,
    at: cx.clock.now(),
    accepted,
    nearer: (to, through) => nearerLine(along, to, through),
    hasBegun: isUnderWay,
    foreseen: { legs, ...(missing && { missing }) },
    manifests: legs.map(({ plan, manifest: { loaded, findings: found } }) => ({
      ...(plan.method === 'operator-manifest' && {
        origin: originOf(manifestSource(along.options, plan.to.text)),
      }),
      ...(loaded && { sha256: loaded.sha256, objects: loaded.manifest.objects }),
      findings: found,
    })),
    first,
    between: request.between ?? 'wait',
    via: (request.via ?? []).map(({ text }) => text),
  })
  const plan = { ...near.plan, to: request.to, request, path, said: [...said, ...near.plan.said] }
  const kept = legs.slice(0, path.steps.length)
  let atWork = near.plan
  const procedure = pathProcedure(plan, {
    who: cx.world.who,
    legs: kept.map(legOf),
    enter: (leg) => enterLeg(leg, kept, along),
    entered: (leg) => (atWork = leg.plan),
    hasBegun: isUnderWay,
    ...(end && { end }),
  })
  return { plan, legs: kept, procedure, findings, now: () => atWork }
}

/** The same line to the release that can be reached; with a sealed plan the flags that it was made with. */
function nearerLine({ cx, options }: Along, to: string, via: readonly string[]): string {
  const { plan, manifestBase } = options
  const base = manifestBase === undefined ? [] : ['--manifest-base', shellWord(manifestBase)]
  const words = plan === undefined ? wordsOf(carryingOut(cx.world.commandLine)) : ['kvup', 'upgrade', ...base]
  return [
    ...withoutFlags(words, { valued: ['--to', '--via'] }),
    `--to ${to}`,
    ...(options.via !== undefined && via.length > 0 ? [`--via ${via.join(',')}`] : []),
    '    goes that far',
  ].join(' ')
}

const legOf = ({ plan, manifest, seen }: PlannedLeg): PathLeg => ({
  plan,
  manifest,
  operatorVersion: seen.installation.operator?.version,
})

interface WithManifests {
  legs: readonly [PlannedLeg, ...PlannedLeg[]]
  missing?: Foreseen['missing']
}

/** Up to the first step whose manifest is not there. */
async function withManifests(foreseen: Foreseen, along: Along): Promise<WithManifests> {
  const [near, ...later] = foreseen.legs
  const legs: [PlannedLeg, ...PlannedLeg[]] = [{ ...near, manifest: along.manifest }]
  for (const leg of later) {
    const options = optionsOfLeg(along.options, leg.plan, true)
    try {
      legs.push({ ...leg, manifest: await prepareManifest({ ...along, ...leg, options, isLater: true }) })
    } catch (error) {
      if (!(error instanceof KvupError) || error.reason !== 'manifest-missing') throw error
      return { legs, missing: { before: leg.plan.to.text, finding: notThere(error) } }
    }
  }
  return { legs }
}

const notThere = ({ message, remedy }: KvupError): Finding => ({
  id: 'manifest-missing',
  level: 'blocker',
  summary: message,
  remedy,
})

/** Nobody typed the checksum: it is that of the file which was judged when the run began. */
function asAnotherFile(error: unknown): unknown {
  if (!(error instanceof KvupError) || error.reason !== 'manifest-checksum') return error
  return blocked(
    'manifest-changed',
    `a manifest is another file than when this run began: ${error.message}`,
    {
      remedy: [
        'run the same command again     judges what is there now, and goes on where the cluster stands',
      ],
    },
  )
}

/** Before the first write of a later step: as an upgrade to it alone is planned and judged, from how the cluster is now. */
async function enterLeg(leg: PathLeg, legs: readonly PlannedLeg[], along: Along): Promise<PathLeg> {
  const { cluster, releases, accepted, hands } = along
  const told = (line: string) =>
    hands.emit({ kind: 'remark', at: along.cx.clock.now().toISOString(), text: line })
  const cx: Context = {
    ...along.cx,
    printer: { ...along.cx.printer, note: told, warn: told },
    cluster: () => Promise.resolve(cluster),
  }
  const reader = oneLook(cluster.reader)
  const { to, request } = leg.plan
  const loansIn = () => hands.journal.loans()
  const seen = await seeForUpgrade(reader, cx.clock, { loansIn, to })
  const plan = makePlan(request, seen, releases)
  const read = legs.find((one) => one.plan.to.text === to.text)?.manifest.loaded
  const typed = optionsOfLeg(along.options, plan, true)
  const options = read ? { ...typed, manifestSha256: read.sha256 } : typed
  const manifest = await prepareManifest({ ...along, cx, options, plan, seen, readNow: true }).catch(
    (error: unknown) => {
      throw typed.manifestSha256 === undefined ? asAnotherFile(error) : error
    },
  )
  const loans = await loansIn()
  const { findings } = await checked({ cx, plan, seen, releases, loans, manifest: manifest.loaded })
  passGate(together(plan.findings, manifest.findings, findings), accepted)
  await manifest.prepare()
  return { plan, manifest, operatorVersion: seen.installation.operator?.version }
}
