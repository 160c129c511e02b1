import type { FleetPlanDocument, PlannedCluster } from '../../fleet/fleet-plan.ts'
import type { FleetReport, FleetResult } from '../../fleet/fleet-report.ts'
import { fleetPlanText, fleetReportText, outcomes, resultWords, waveName } from './fleet-words.ts'
import { spanText } from '../../kube/duration.ts'
import type { Column, Tone, View } from '../printer.ts'
import { table } from '../table.ts'
import { brief, helpLine, wrap } from '../text.ts'
import { argoWorkflow } from '../formats/argo-workflow.ts'
import { suites } from './fleet.ts'

interface PlanRow extends PlannedCluster {
  wave: string
}

const planColumns: readonly Column<PlanRow>[] = [
  { name: 'WAVE', cell: ({ wave }) => wave },
  { name: 'CLUSTER', cell: ({ name }) => name },
  { name: 'FROM', cell: ({ plan }) => plan?.from },
  { name: 'METHOD', cell: ({ plan }) => plan?.method },
  {
    name: 'TIME',
    cell: ({ plan }) =>
      plan?.pending === false ? 'nothing to do' : plan?.time && spanText(plan.time.highSeconds * 1000),
  },
  { name: 'WINDOW', cell: ({ windows }) => windows.join(', ') || 'always' },
  { name: 'UID', cell: ({ uid }) => uid, wide: true },
  {
    name: 'AGAINST IT',
    holds: 'text',
    cell: ({ error, plan }) => (error ? brief(error.message) : againstIt(plan).join(', ') || '-'),
    tone: ({ error }) => (error ? 'bad' : undefined),
  },
]

/** What is only good to know is left to `kvup check`; several findings of one check are named once. */
const againstIt = (plan: PlannedCluster['plan']): readonly string[] => [
  ...new Set(plan?.findings.flatMap(({ id, level }) => (level === 'info' ? [] : [id]))),
]

/** Wave by wave, with what stands against each cluster. */
export const fleetPlanView: View<FleetPlanDocument> = {
  text(document, paint, size) {
    const { waves, clusters, soakSeconds, stopAfter, alerts, seal, next = [] } = document
    const waveOf = (name: string) => waves.find((one) => one.clusters.includes(name))?.wave
    const rows = clusters
      .map((one) => ({ one, at: waveOf(one.name) ?? -1 }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ one, at }): PlanRow => Object.assign({ wave: at < 0 ? '-' : waveName(at) }, one))
    const head = `${fleetPlanText(document)}; ${spanText(soakSeconds * 1000)} between them; stops after ${stopAfter} failed${alerts ? `, and on a new ${alerts.atLeast} alert` : ''}`
    return [
      ...wrap(seal ? paint.strong(head) : paint.bad(`NOT SEALED: ${head}`), size.columns),
      '',
      ...table(planColumns, rows, { ...size, paint }),
      ...next.flatMap((line) => wrap(helpLine(line, paint), size.columns)),
    ]
  },
  names: ({ clusters }) => clusters.map(({ name }) => `cluster/${name}`),
  formats: { 'argo-workflow': (document) => argoWorkflow(document) },
}

const tones: Readonly<Record<FleetResult['outcome'], Tone>> = {
  failed: 'bad',
  unreachable: 'bad',
  'needs-person': 'warn',
  interrupted: 'warn',
  'not-begun': 'dim',
  done: 'good',
  'nothing-to-do': 'good',
}

/** Over all processes that had a part in it. */
function tookText({ began = '', ended = '', seconds }: FleetResult): string {
  const ms = Date.parse(ended) - Date.parse(began)
  if (ms >= 0) return spanText(ms)
  return seconds === undefined ? '-' : spanText(seconds * 1000)
}

const resultColumns: readonly Column<FleetResult>[] = [
  { name: 'RESULT', cell: ({ outcome }) => resultWords(outcome), tone: ({ outcome }) => tones[outcome] },
  { name: 'WAVE', cell: ({ wave }) => waveName(wave) },
  { name: 'CLUSTER', cell: ({ name }) => name },
  { name: 'TOOK', cell: tookText },
  { name: 'WHY', holds: 'text', cell: ({ error }) => (error ? brief(error.message) : '-') },
]

/** How a fleet run ended, the worst first. */
export const fleetReportView: View<FleetReport> = {
  text({ to, items }, paint, size) {
    const rows = items.toSorted(
      (one, other) => outcomes.indexOf(one.outcome) - outcomes.indexOf(other.outcome),
    )
    const tone = rows[0] === undefined ? 'dim' : tones[rows[0].outcome]
    return [
      ...wrap(paint[tone](fleetReportText({ to, items })), size.columns),
      '',
      ...table(resultColumns, rows, { ...size, paint }),
    ]
  },
  names: ({ items }) => items.map(({ name }) => `cluster/${name}`),
  formats: {
    junit: ({ items, to }) =>
      suites(
        'kvup fleet upgrade',
        items.map(({ name, outcome, seconds, error }) => ({
          suite: name,
          test: `upgrade to ${to}`,
          ...(seconds !== undefined && { seconds }),
          ...(outcome === 'not-begun' && { skipped: 'not begun' }),
          ...(error && { failed: error.message, reason: error.reason }),
        })),
      ),
  },
}
