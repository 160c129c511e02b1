import type { ReportedCheck } from '../../checks/check-run.ts'
import type { OutdatedDocument } from '../../vms/outdated-vms.ts'
import type { Document } from '../printer.ts'
import type { CheckDocument } from '../views/check-report.ts'
import type { StatusDocument } from '../views/status.ts'
import type { Told } from './reports.ts'

type Labels = Readonly<Record<string, string>>

interface Sample {
  labels: Labels
  value: number
}

/** A gauge with all its series. What kvup reports goes up and down; it counts nothing over time. */
interface Gauge {
  name: string
  help: string
  samples: readonly Sample[]
}

const gauge = (name: string, help: string, ...samples: readonly Sample[]): Gauge => ({ name, help, samples })
const one = (value: number, labels: Labels = {}): Sample => ({ labels, value })

/** Text format 0.0.4, as node-exporter's textfile collector reads it: the same document gives the same bytes. A gauge without a series is left out. */
export function expositionText(gauges: readonly Gauge[]): string {
  return gauges
    .filter(({ samples }) => samples.length > 0)
    .toSorted((a, b) => byText(a.name, b.name))
    .map(({ name, help, samples }) => {
      const series = samples.map(({ labels, value }) => `${name}${labelsText(labels)} ${String(value)}\n`)
      return [
        `# HELP ${name} ${escapedHelp(help)}\n`,
        `# TYPE ${name} gauge\n`,
        ...series.toSorted(byText),
      ].join('')
    })
    .join('')
}

/** Without a locale: every machine sorts alike. */
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function labelsText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .toSorted(([a], [b]) => byText(a, b))
    .map(([name, value]) => `${name}="${escapedLabel(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapedHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapedLabel = (text: string): string => escapedHelp(text.toWellFormed()).replaceAll('"', '\\"')

/** Metrics of a document, and whether there was one: of a failure only that is told, so that an alert can be made of it. */
export function metricsReport({ command, document, error, at }: Told): string {
  const label = { command: command.slice(command.indexOf(' ') + 1) }
  const made = document !== undefined && error === undefined
  return expositionText([
    gauge(
      'kvup_report_success',
      'Whether this kvup command could make its report (1) or failed (0).',
      one(made ? 1 : 0, label),
    ),
    gauge(
      'kvup_report_timestamp_seconds',
      'When the report was made, in seconds since the epoch, by the clock of the cluster.',
      one(Math.floor(Date.parse(at) / 1000), label),
    ),
    ...(document && made ? (metrics[document.kind]?.(document) ?? []) : []),
  ])
}

type Measure = (document: Document) => readonly Gauge[]
const measuring = <T extends Document>(measure: (document: T) => readonly Gauge[]) => measure as Measure

/** The names of each command are its own: files of several commands lie beside one another, and a series must be in one only. */
const metrics: Readonly<Record<string, Measure>> = {
  Status: measuring(statusMetrics),
  CheckReport: measuring(checkMetrics),
  OutdatedWorkloads: measuring(outdatedMetrics),
}

/** One series for each of these words, 1 for the one that holds. */
function oneOf(words: readonly string[], holds: string | undefined, label: string): readonly Sample[] {
  return words.map((word) => one(word === holds ? 1 : 0, { [label]: word }))
}

const kubeVirtVerdicts = ['Healthy', 'Updating', 'Stalled', 'Degraded'] as const
const overallVerdicts = [...kubeVirtVerdicts, 'Waiting'] as const
/** Pools, operators and the platform: a cluster with more of them shows the first ones. */
const mostLayers = 50

function statusMetrics(status: StatusDocument): readonly Gauge[] {
  const { observed, target, verdict, overall, layers = [], running, remarks = [] } = status
  const info = ({ name, namespace }: NonNullable<StatusDocument['installation']>): Labels => ({
    name,
    namespace,
    version: observed?.version ?? '',
    target_version: target?.version ?? '',
  })
  return [
    gauge(
      'kvup_status_kubevirt_info',
      'The KubeVirt that is installed, the version it runs and the one it should run; always 1.',
      ...(status.installation ? [one(1, info(status.installation))] : []),
    ),
    gauge(
      'kvup_status_kubevirt_verdict',
      'How KubeVirt stands: 1 for the verdict that holds, 0 for the others.',
      ...oneOf(kubeVirtVerdicts, verdict, 'verdict'),
    ),
    gauge(
      'kvup_status_verdict',
      'How KubeVirt and the layers above it stand: 1 for the verdict that holds, 0 for the others.',
      ...oneOf(overallVerdicts, overall?.verdict ?? verdict, 'verdict'),
    ),
    gauge(
      'kvup_status_layer_info',
      'A layer that KubeVirt depends on, with its verdict; always 1.',
      ...layers.slice(0, mostLayers).map((layer) => one(1, { layer: layer.title, verdict: layer.verdict })),
    ),
    ...componentMetrics(status),
    ...vmMetrics(status),
    gauge(
      'kvup_status_run_in_progress',
      'Whether a kvup holds the lock of this cluster.',
      one(running ? 1 : 0),
    ),
    gauge('kvup_status_not_judged', 'Parts that could not be read and were not judged.', one(remarks.length)),
  ]
}

function componentMetrics({ components = [] }: StatusDocument): readonly Gauge[] {
  const pods = (name: 'desired' | 'updated' | 'ready', what: string) =>
    gauge(
      `kvup_status_component_pods_${name}`,
      `Pods of a component of KubeVirt: ${what}.`,
      ...components.map((component) => one(component[name], { component: component.name })),
    )
  return [
    pods('desired', 'how many there should be'),
    pods('updated', 'how many are of the target version'),
    pods('ready', 'how many are ready'),
  ]
}

/** What may not be read has no series: 0 would be good news. */
function vmMetrics({ workloads, overrides }: StatusDocument): readonly Gauge[] {
  const { instances, outdated, troubled } = workloads
  const { settings = [], vms = 0 } = overrides ?? {}
  const count = (name: string, help: string, value: number | undefined) =>
    gauge(name, help, ...(value === undefined ? [] : [one(value)]))
  return [
    count('kvup_status_vms_running', 'Running VMs.', instances),
    count(
      'kvup_status_vms_outdated',
      'Running VMs that KubeVirt labels as on an old virt-launcher.',
      outdated.labelled,
    ),
    count('kvup_status_vms_troubled', 'VMs that should run and do not.', troubled?.count),
    gauge(
      'kvup_status_temporary_changes',
      'Settings that kvup changed for a time and has still to restore.',
      one(settings.length, { on: 'settings' }),
      one(vms, { on: 'vms' }),
    ),
  ]
}

const checkResults = ['passed', 'found', 'not-checked', 'skipped'] as const

function checkMetrics({ items, counts, outcome, to, kubevirt }: CheckDocument): readonly Gauge[] {
  const many = (is: ReportedCheck['is']) => items.filter((item) => item.is === is).length
  return [
    gauge(
      'kvup_check_ready',
      'Whether nothing stands against the upgrade (1), or a blocker does (0).',
      one(outcome === 'passed' ? 1 : 0, { version: kubevirt.version ?? '', target_version: to ?? '' }),
    ),
    gauge(
      'kvup_check_findings',
      'Findings that were not accepted, by level.',
      one(counts.blockers, { level: 'blocker' }),
      one(counts.warnings, { level: 'warning' }),
      one(counts.infos, { level: 'info' }),
    ),
    gauge('kvup_check_findings_accepted', 'Findings that were accepted by name.', one(counts.accepted)),
    gauge(
      'kvup_check_checks',
      'Checks, by what became of them.',
      ...checkResults.map((result) => one(many(result), { result })),
    ),
    gauge(
      'kvup_check_state_info',
      'A check with its state, which is the worst level that it found; always 1.',
      ...items.map((item) => one(1, { check: item.id, group: item.group, state: stateOf(item) })),
    ),
  ]
}

const worst = ['blocker', 'not-checked', 'warning', 'info'] as const

function stateOf({ is, findings }: ReportedCheck): string {
  if (is !== 'found') return is
  const open = findings.filter(({ accepted }) => !accepted)
  return worst.find((level) => open.some((found) => found.level === level)) ?? 'accepted'
}

function outdatedMetrics({ totals, selection, paused, unread }: OutdatedDocument): readonly Gauge[] {
  const asked = {
    namespace: selection.namespace ?? '',
    node: selection.node ?? '',
    selector: selection.labels ?? '',
  }
  const outcomes = Object.entries(totals.byOutcome)
  const known = outcomes.reduce((sum, [, n]) => sum + n, 0)
  return [
    gauge('kvup_outdated_vms', 'Running VMs on an old virt-launcher.', one(totals.total, asked)),
    gauge(
      'kvup_outdated_vms_by_outcome',
      'Running VMs on an old virt-launcher, by what an update does to them.',
      ...outcomes.map(([outcome, n]) => one(n, { ...asked, outcome })),
      one(totals.total - known, { ...asked, outcome: 'unknown' }),
    ),
    gauge(
      'kvup_outdated_vms_old',
      'Running VMs on a virt-launcher that is more than a year old.',
      one(totals.old, asked),
    ),
    gauge(
      'kvup_outdated_updates_paused',
      'Whether kvup paused automatic VM updates.',
      one(paused === undefined ? 0 : 1, asked),
    ),
    gauge(
      'kvup_outdated_unread',
      'Parts that may not be read: nothing is said of their VMs.',
      one(unread.length, asked),
    ),
  ]
}
