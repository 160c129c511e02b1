import * as kube from '../kinds.ts'
import { claim, control, type ControllerContext, made, seconds } from '../machinery/controller.ts'
import type { Faults } from '../machinery/machinery-faults.ts'
import { minorOf, runCatalog } from './catalog-source.ts'
import { carriedBy, runCopies, runServiceVersions } from './csv-controller.ts'
import { type Olm, type OlmFaults, ownOnes, ownServiceVersions, type Said, saying } from './olm-context.ts'
import { runInstallPlans } from './install-plan-controller.ts'
import type { OlmShape } from './olm-shape.ts'
import { runSubscriptions } from './subscription-controller.ts'
import type { Condition } from '../../lib/kube/object.ts'
import { items, same, text } from '../api/json.ts'
import { isBefore } from './catalog-content.ts'
import { ownerReference } from '../machinery/owned-pods.ts'

/**
 * OLM, generation 0, with its catalog: resolves, plans, installs and replaces operators until the signal ends it (ocp 2). A client like any
 * other: the kinds of `olmKinds` have to be served, those of OpenShift may be, and somebody has to run Deployments and pods.
 */
export async function runOlm(
  cx: ControllerContext,
  shape: OlmShape,
  faults: Pick<Faults<OlmFaults>, 'on' | 'onChange'>,
): Promise<void> {
  const wakes = (notify: () => void): void => faults.onChange(notify, cx.signal)
  const own = { ...cx, wakes, shape, faults }
  await Promise.all([
    runCatalog(own),
    runSubscriptions(own),
    runInstallPlans(own),
    runServiceVersions(own),
    runOperatorConditions(own),
    runCopies(own),
    runClusterOperator(own),
  ])
}

/** Makes an OperatorCondition for each CSV, and copies what its operator says in the spec to the status that OLM goes by (ocp 1.8, 2.5). */
function runOperatorConditions(cx: Olm): Promise<void> {
  const watched = [{ kind: kube.Csvs, where: ownOnes }, { kind: kube.OperatorConditions }]
  return control(cx, watched, async () => {
    for (const csv of await ownServiceVersions(cx.reader)) await reconcile(cx, csv)
  })
}

async function reconcile(cx: Olm, csv: kube.Csv): Promise<void> {
  const { name: of, namespace } = csv.metadata
  const found = await cx.reader.get(kube.OperatorConditions, csv.metadata)
  if (found.is !== 'object') {
    const metadata = { name: of, namespace, ownerReferences: [ownerReference(csv, false)] }
    const spec = { deployments: carriedBy(csv).map((one) => one.name) }
    await cx.writer.create(kube.OperatorConditions, made(kube.OperatorConditions, { metadata, spec }))
    return
  }
  if (csv.status?.phase !== 'Pending') await blockUpgrade(cx, found.object)
  await copyToStatus(cx, found.object)
}

const byAdmin = 'HeldByAdministrator'

async function blockUpgrade(cx: Olm, { metadata, spec }: kube.OperatorCondition): Promise<void> {
  const { held: message } = cx.faults.on
  const before = spec?.overrides ?? []
  if (before.find(({ reason }) => reason === byAdmin)?.message === message) return
  const overrides: Condition[] = before.filter(({ reason }) => reason !== byAdmin)
  if (message !== undefined)
    overrides.push({ ...claim('Upgradeable', 'False', byAdmin, message), lastTransitionTime: seconds(cx) })
  await cx.writer.mergePatch(kube.OperatorConditions, metadata, { spec: { overrides } })
}

/** With the generation that they were said in: a status of an older one is no answer. */
async function copyToStatus(cx: Olm, { metadata, spec, status }: kube.OperatorCondition): Promise<void> {
  if (spec?.conditions === undefined) return
  const before = status?.conditions ?? []
  const { generation = 1 } = metadata
  const conditions = spec.conditions.map((one) => {
    const there = before.find(({ type, status: is }) => type === one.type && is === one.status)
    const since = there?.lastTransitionTime ?? one.lastTransitionTime ?? seconds(cx)
    return Object.assign({}, one, { lastTransitionTime: since, observedGeneration: generation })
  })
  if (same(before, conditions)) return
  await cx.writer.mergePatch(kube.OperatorConditions, metadata, { status: { conditions } }, 'status')
}

const name = 'operator-lifecycle-manager'

/**
 * Says to the platform whether an operator is in the way of its next minor, where the platform has a ClusterOperator for it (ocp 2.8).
 * Writes that one condition alone.
 */
function runClusterOperator(cx: Olm): Promise<void> {
  const watched = [
    { kind: kube.Csvs, where: ownOnes },
    { kind: kube.ClusterVersions },
    { kind: kube.ClusterOperators, concerns: ({ metadata }: kube.ClusterOperator) => metadata.name === name },
  ]
  return control(cx, watched, async () => {
    const own = await cx.reader.get(kube.ClusterOperators, { name })
    const version = await cx.reader.get(kube.ClusterVersions, { name: 'version' })
    if (own.is !== 'object' || version.is !== 'object') return
    const next = following(version.object.status?.desired?.version)
    if (next === undefined) return
    const said = verdict(await ownServiceVersions(cx.reader), next)
    const { metadata, status } = own.object
    const conditions = saying(status?.conditions, { Upgradeable: said }, seconds(cx))
    if (conditions === status?.conditions) return
    const { resourceVersion } = metadata
    const change = {
      ...(resourceVersion !== undefined && { metadata: { resourceVersion } }),
      status: { conditions },
    }
    await cx.writer.mergePatch(kube.ClusterOperators, metadata, change, 'status')
  })
}

/** The minor after a version's. */
function following(version: string | undefined): string | undefined {
  const [major, minor] = minorOf(version)?.split('.').map(Number) ?? []
  return major === undefined || minor === undefined ? undefined : `${major}.${minor + 1}`
}

function verdict(versions: readonly kube.Csv[], next: string): Said[string] {
  const bounded = versions.flatMap((csv) => {
    const limit = limitOf(csv)
    return limit !== undefined && isBefore(limit, next) ? [{ csv, limit }] : []
  })
  if (bounded.length === 0) return { status: 'True' }
  const lines = bounded.map(({ csv: { metadata }, limit }) => {
    const { name: operator, namespace } = metadata
    return `- maximum supported OCP version for ${namespace}/${operator} is ${limit}`
  })
  const message = `ClusterServiceVersions blocking minor version upgrades to ${next}.0 or higher:\n${lines.join('\n')}`
  return { status: 'False', reason: 'IncompatibleOperatorsInstalled', message }
}

function limitOf({ metadata }: kube.Csv): string | undefined {
  const given: unknown = JSON.parse(metadata.annotations?.['olm.properties'] ?? '[]')
  const limit = items({ given }, 'given').find(({ type }) => type === 'olm.maxOpenShiftVersion')
  return text(limit, 'value')
}
