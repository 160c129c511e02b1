import type { Context } from '../../context.ts'
import { allChecks } from '../../lib/checks/checks.ts'
import { clockSkew } from '../../lib/checks/machinery/clock-skew.ts'
import type { Question } from '../../lib/checks/check.ts'
import { reportOf } from '../../lib/checks/report.ts'
import { runChecks } from '../../lib/checks/run-checks.ts'
import type { CheckDocument } from '../../lib/output/check-document.ts'
import { checkView } from '../../lib/output/views/check-report.ts'
import { parseVersion } from '../../lib/releases/version.ts'
import { type ExitCode, exitCode } from '../../lib/system/exit-codes.ts'
import { readReleases } from '../releases/read-releases.ts'
import { acceptedRisks } from './accepted-risks.ts'
import { look } from './look.ts'
import { manifestObjects } from './manifest-objects.ts'
import { ensureProbesFit } from './probe-flags.ts'

export interface CheckOptions {
  to?: string
  method: 'auto' | 'image-tag' | 'operator-manifest'
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
  const seen = await look(cx, { to, method: options.method, from: options.from })
  const asked: Question = { ...seen, releases, ...(to && { target: to }), ...(manifest && { manifest }) }
  const question = options.probeImages ? await withProbes(cx, asked) : asked
  const strict = options.strict ?? false
  const checks = question.ahead === undefined ? allChecks : [...allChecks, clockSkew]
  const report = reportOf(runChecks(checks, question), accepted, strict)
  const document: CheckDocument = { ...heading(cx, question), strict, accepted, ...report }
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

function heading(cx: Context, { evidence, installation, standing, releases, ...asked }: Question) {
  const version = standing.observed.version
  const { serverVersion, takenAt } = evidence
  return {
    apiVersion: 'kvup.io/v1alpha1',
    kind: 'CheckReport',
    takenAt,
    kubevirt: { name: installation.name, namespace: installation.namespace, ...(version && { version }) },
    ...(serverVersion && { kubernetes: serverVersion.gitVersion }),
    ...(asked.target && { to: asked.target.text }),
    ...(asked.method && { method: asked.method }),
    releasesAsOf: releases.asOf,
    kvup: cx.world.version,
  } as const
}
