import type { Context } from '../../context.ts'
import { allChecks } from '../../lib/checks/checks.ts'
import { clockSkew } from '../../lib/checks/machinery/clock-skew.ts'
import type { Installation } from '../../lib/facts/installation.ts'
import { usageError } from '../../lib/system/errors.ts'
import type { Question } from '../../lib/checks/check.ts'
import { reportOf } from '../../lib/checks/report.ts'
import { runChecks } from '../../lib/checks/run-checks.ts'
import type { CheckDocument } from '../../lib/output/check-document.ts'
import { checkView } from '../../lib/output/views/check-report.ts'
import { parseVersion } from '../../lib/releases/version.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { readerFor } from '../reader-for.ts'
import { readReleases } from '../releases/read-releases.ts'
import { acceptedRisks } from './accepted-risks.ts'
import { look } from './look.ts'
import { nearTarget } from '../upgrade/near-target.ts'
import { manifestObjects } from './manifest-objects.ts'
import { checksByOlm, olmWay } from './olm-way.ts'
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
  const seen = await look(cx, { to, method: options.method, looked })
  const { installation, standing } = seen
  ensureOlmOwns(options, installation)
  const typed = seen.method === 'olm' ? options.to : undefined
  const ids = accepted.map(({ id }) => id)
  const way = typed !== undefined && (await olmWay(looked.cluster, { to: typed, accepted: ids, releases }))
  const target = way ? 'goal' in way && nearTarget(way.goal.part, way.goal.to, standing) : to
  const asked: Question = { ...seen, releases, ...(target && { target }), ...(manifest && { manifest }) }
  const question = options.probeImages ? await withProbes(cx, asked) : asked
  const strict = options.strict ?? false
  const ours = way ? checksByOlm(allChecks, way, question) : allChecks
  const checks = question.ahead === undefined ? ours : [...ours, clockSkew]
  const report = reportOf(runChecks(checks, question), accepted, strict)
  const towards = way ? ('goal' in way ? way.goal.part.to : options.to) : to?.text
  const document: CheckDocument = { ...heading(cx, question, towards), strict, accepted, ...report }
  cx.printer.result(document, checkView, report.counts.notChecked > 0 ? 'partial' : 'complete')
  return report.outcome === 'blocked' ? exitCode.blocked : exitCode.done
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
