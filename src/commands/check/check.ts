import type { Context } from '../../context.ts'
import { allChecks } from '../../lib/checks/checks.ts'
import { clockSkew } from '../../lib/checks/machinery/clock-skew.ts'
import type { Installation } from '../../lib/facts/installation.ts'
import { usageError } from '../../lib/system/errors.ts'
import type { Cluster } from '../../lib/cluster/cluster.ts'
import type { Releases } from '../../lib/releases/releases.ts'
import type { Check, Question } from '../../lib/checks/check.ts'
import { type AcceptedRisk, reportOf } from '../../lib/checks/report.ts'
import { runChecks } from '../../lib/checks/run-checks.ts'
import type { CheckDocument } from '../../lib/output/check-document.ts'
import { checkView } from '../../lib/output/views/check-report.ts'
import { parseVersion, type Version } from '../../lib/releases/version.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { readerFor } from '../reader-for.ts'
import { readReleases } from '../releases/read-releases.ts'
import { acceptedRisks } from './accepted-risks.ts'
import { look } from './look.ts'
import { nearTarget } from '../upgrade/near-target.ts'
import { manifestObjects } from './manifest-objects.ts'
import { checksByOlm, type OlmWay, olmWay } from './olm-way.ts'
import { ensureProbesFit } from './probe-flags.ts'

export interface CheckOptions {
  to?: string
  method: 'auto' | 'image-tag' | 'operator-manifest' | 'olm'
  manifest?: string
  releases?: string
  accept: readonly string[]
  strict?: boolean
  probeImages?: boolean
  from?: string
}

/** Looks once and says everything that speaks against a change. Exit 3 where a blocker was not accepted. */
export async function check(cx: Context, options: CheckOptions): Promise<ExitCode> {
  ensureProbesFit(options)
  const to = options.to === undefined ? undefined : parseVersion(options.to)
  const releases = await readReleases(cx.world, options.releases)
  const accepted = acceptedRisks(options.accept, releases)
  const manifest = await manifestObjects(cx, options.manifest, to)
  const looked = await readerFor(cx, options.from)
  const seen = await look(cx, { to, method: options.method, looked, waits: !looked.saved })
  ensureOlmOwns(options, seen.installation)
  const way = await wayOf(options, seen, { cluster: looked.cluster, accepted, releases })
  const target = targetOf(to, way, seen)
  const asked: Question = { ...seen, releases, ...(target && { target }), ...(manifest && { manifest }) }
  const question = options.probeImages ? await withProbes(cx, asked) : asked
  const strict = options.strict ?? false
  const report = reportOf(runChecks(checksFor(question, way), question), accepted, strict)
  const document: CheckDocument = {
    ...heading(cx, question, towardsOf(to, way)),
    strict,
    accepted,
    ...report,
  }
  cx.printer.result(document, checkView, report.counts.notChecked > 0 ? 'partial' : 'complete')
  return report.outcome === 'blocked' ? exitCode.blocked : exitCode.done
}

type Looked = Omit<Question, 'releases' | 'target'>

/** Where OLM is the method: how it comes to what was typed. */
async function wayOf(
  { to }: CheckOptions,
  { method }: Looked,
  by: { cluster: Cluster; accepted: readonly AcceptedRisk[]; releases: Releases },
): Promise<OlmWay | undefined> {
  if (to === undefined || method !== 'olm') return undefined
  return olmWay(by.cluster, { to, accepted: by.accepted.map(({ id }) => id), releases: by.releases })
}

/** The KubeVirt to judge: by OLM the one that a release of HyperConverged brings, where it is near enough. */
function targetOf(
  to: Version | undefined,
  way: OlmWay | undefined,
  { standing }: Looked,
): Version | undefined {
  if (way === undefined) return to
  return 'goal' in way ? nearTarget(way.goal.part, way.goal.to, standing) : undefined
}

/** What it says of where to: a release of HyperConverged where OLM is the way. */
const towardsOf = (to: Version | undefined, way: OlmWay | undefined): string | undefined =>
  way && 'goal' in way ? way.goal.part.to : to?.text

function checksFor(question: Question, way: OlmWay | undefined): readonly Check[] {
  const ours = way === undefined ? allChecks : checksByOlm(allChecks, way, question)
  return question.ahead === undefined ? ours : [...ours, clockSkew]
}

/** The only thing that `kvup check` ever writes; `ensureProbesFit` saw to target and manifest. */
async function withProbes(cx: Context, question: Question): Promise<Question> {
  const { target, manifest } = question
  if (target === undefined || manifest === undefined) return question
  const { probeImages } = await import('./probe-images.ts')
  const probes = await probeImages(cx, { ...question, target, manifest })
  return { ...question, evidence: { ...question.evidence, probes } }
}

/** `to`: where OLM is the way, a release of HyperConverged. */
function heading(
  cx: Context,
  { evidence, installation, standing, releases, ...asked }: Question,
  to: string | undefined,
) {
  const version = standing.observed.version
  const { serverVersion, takenAt } = evidence
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'CheckReport',
    takenAt,
    kubevirt: { name: installation.name, namespace: installation.namespace, ...(version && { version }) },
    ...(serverVersion && { kubernetes: serverVersion.gitVersion }),
    ...(to !== undefined && { to }),
    ...(asked.method && { method: asked.method }),
    releasesAsOf: releases.asOf,
    kvup: cx.world.version,
  } as const
}

/** As `kvup upgrade` says it. */
function ensureOlmOwns({ method }: CheckOptions, { manager }: Installation): void {
  if (method === 'olm' && manager.kind !== 'hyperconverged')
    throw usageError('not-by-olm', 'no HyperConverged owns KubeVirt here: --method olm is not its way', {
      remedy: 'leave it out',
    })
}
