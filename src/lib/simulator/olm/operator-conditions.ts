import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  type OperatorCondition,
  OperatorConditions,
} from '../../cluster/kinds/operator-lifecycle.ts'
import type { Condition } from '../../cluster/object.ts'
import { same } from '../api/json.ts'
import { control } from '../machinery/controller.ts'
import { carriedBy } from './csv-look.ts'
import { ownedBy } from './install-csv.ts'
import { ownServiceVersions } from './namespace-look.ts'
import { type OlmContext, seconds } from './olm-context.ts'

/** Makes an OperatorCondition for each CSV, and copies what its operator says in the spec to the status that OLM goes by (ocp 1.8, 2.5). */
export function runOperatorConditions(cx: OlmContext): Promise<void> {
  const watched = [
    { kind: ClusterServiceVersions, where: { labels: `!${copiedFromLabel}` } },
    { kind: OperatorConditions },
  ]
  return control(cx, watched, async () => {
    for (const csv of await ownServiceVersions(cx.reader)) await tend(cx, csv)
    return undefined
  })
}

async function tend(cx: OlmContext, csv: ClusterServiceVersion): Promise<void> {
  const found = await cx.reader.find(OperatorConditions, csv.metadata)
  if (found.is !== 'object') {
    await cx.writer.create(OperatorConditions, conditionOf(csv))
    return
  }
  if (csv.status?.phase !== 'Pending') await hold(cx, found.object)
  await copyToStatus(cx, found.object)
}

function conditionOf(csv: ClusterServiceVersion): OperatorCondition {
  const { name, namespace } = csv.metadata
  const { apiVersion, kind } = OperatorConditions
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }), ownerReferences: [ownedBy(csv)] },
    spec: { deployments: carriedBy(csv).map((one) => one.name) },
  }
}

const byAdmin = 'HeldByAdministrator'

/** Somebody overrides what the operator says, for as long as the fault is on. */
async function hold(cx: OlmContext, { metadata, spec }: OperatorCondition): Promise<void> {
  const { held } = cx.faults.on
  const others = (spec?.overrides ?? []).filter(({ reason }) => reason !== byAdmin)
  const own = held === undefined ? [] : [heldBack(cx, held)]
  const there = (spec?.overrides ?? []).find(({ reason }) => reason === byAdmin)
  if (there?.message === held) return
  await cx.writer.mergePatch(OperatorConditions, metadata, { spec: { overrides: [...others, ...own] } })
}

function heldBack(cx: OlmContext, message: string): Condition {
  return {
    type: 'Upgradeable',
    status: 'False',
    reason: byAdmin,
    message,
    lastTransitionTime: seconds(cx),
  }
}

/** With the generation that they were said in: a status of an older one is no answer. */
async function copyToStatus(cx: OlmContext, { metadata, spec, status }: OperatorCondition): Promise<void> {
  if (spec?.conditions === undefined) return
  const before = status?.conditions ?? []
  const { generation = 1 } = metadata
  const conditions = spec.conditions.map((one) => {
    const there = before.find(({ type, status: is }) => type === one.type && is === one.status)
    const since = there?.lastTransitionTime ?? one.lastTransitionTime ?? seconds(cx)
    return Object.assign({}, one, { lastTransitionTime: since, observedGeneration: generation })
  })
  if (same(before, conditions)) return
  await cx.writer.mergePatch(OperatorConditions, metadata, { status: { conditions } }, 'status')
}
