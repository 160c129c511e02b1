import { Deployments } from '../../cluster/kinds/apps.ts'
import { CustomResourceDefinitions } from '../../cluster/kinds/extension.ts'
import {
  type ClusterServiceVersion,
  ClusterServiceVersions,
  copiedFromLabel,
  OperatorConditions,
  OperatorGroups,
} from '../../cluster/kinds/operator-lifecycle.ts'
import { control } from '../machinery/controller.ts'
import { type CsvLook, lookAtCsv } from './csv-look.ts'
import { nextPhase, type Phase, type PhaseTimes } from './csv-phase.ts'
import { installCsv, removeCsv } from './install-csv.ts'
import { ownServiceVersions } from './namespace-look.ts'
import { msSince, type OlmContext, seconds } from './olm-context.ts'

/** A phase lasts at least so long, ms: the CSV is looked at once a second. */
const shortest = 1000
/** What time alone moves is looked at as often, ms. */
const slow = 5000
/** As many phases are remembered. */
const remembered = 20

/** The OLM operator: takes each CSV from phase to phase. */
export function runServiceVersions(cx: OlmContext): Promise<void> {
  const watched = [
    { kind: ClusterServiceVersions, where: { labels: `!${copiedFromLabel}` } },
    { kind: Deployments, where: { labels: 'olm.owner' } },
    { kind: OperatorConditions },
    { kind: OperatorGroups },
    { kind: CustomResourceDefinitions },
  ]
  return control(cx, watched, async () => {
    const all = await ownServiceVersions(cx.reader)
    const again: number[] = []
    for (const csv of all) again.push(...(await advance(cx, csv, all)))
    return again.length > 0 ? Math.min(...again) : undefined
  })
}

/** In how many ms to look again. */
async function advance(
  cx: OlmContext,
  csv: ClusterServiceVersion,
  all: readonly ClusterServiceVersion[],
): Promise<number[]> {
  const times = timesOf(cx, csv)
  if (times.inPhase < shortest) return [shortest - times.inPhase]
  if (csv.status?.phase === 'Deleting') {
    await removeCsv(cx, csv)
    return []
  }
  const look = await lookAtCsv(cx, csv, all)
  const next = nextPhase(csv, look, times)
  if (next === undefined || isIn(csv, next)) return isAtRest(csv) ? [] : [slow]
  if (next.phase === 'Installing' && csv.status?.phase === 'InstallReady') await installCsv(cx, csv)
  await write(cx, csv, next, look)
  return [shortest]
}

function isIn({ status }: ClusterServiceVersion, { phase, reason, message }: Phase): boolean {
  return status?.phase === phase && status.reason === reason && status.message === message
}

const isAtRest = ({ status }: ClusterServiceVersion): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Replacing'

function timesOf(cx: OlmContext, { metadata, status }: ClusterServiceVersion): PhaseTimes {
  const { csvFails, csvFailsFor = 0 } = cx.faults.on
  return {
    inPhase: msSince(cx, status?.lastTransitionTime),
    age: msSince(cx, metadata.creationTimestamp),
    failsFor: csvFails === true ? Infinity : csvFailsFor,
  }
}

async function write(
  cx: OlmContext,
  { metadata, status }: ClusterServiceVersion,
  next: Phase,
  { requirements }: CsvLook,
): Promise<void> {
  const now = seconds(cx)
  const lastTransitionTime = status?.phase === next.phase ? (status.lastTransitionTime ?? now) : now
  const conditions = [...(status?.conditions ?? []), { ...next, lastTransitionTime, lastUpdateTime: now }]
  const change = {
    ...next,
    lastUpdateTime: now,
    lastTransitionTime,
    conditions: conditions.slice(-remembered),
    ...(next.phase === 'Succeeded' || next.phase === 'Pending' || next.phase === 'InstallReady'
      ? { requirementStatus: [...requirements] }
      : {}),
  }
  await cx.writer.mergePatch(ClusterServiceVersions, metadata, { status: change }, 'status')
}
