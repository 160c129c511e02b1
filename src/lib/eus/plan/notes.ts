import { itemsOf, type Known, notAsked } from '../../facts/known.ts'
import { platformMinor, platformMinorsAsOf } from '../../releases/platform-minors.ts'
import { forecastText } from '../../workloads/forecast.ts'
import { expectedAlertNotes } from './findings/alerts.ts'
import { isMidWindow, type Judged } from './judged.ts'
import { operatorMinorNow, operatorNow } from './operator-now.ts'
import { healthChecksOf, poolsToPause } from './pools.ts'

/** What it means for the cluster: sentences for people, in the order in which it comes. */
export function notesOf(judged: Judged): readonly string[] {
  const { chosen, route, sight, hops } = judged
  return [
    ...chosen.notes,
    ...(isMidWindow(judged)
      ? [`a window is open: the control plane is at ${sight.release}, paused pools at ${sight.began}`]
      : []),
    ...(route.way === 'control-plane-only' ? windowNotes(judged) : []),
    ...(hops.some(({ operators }) => operators.some(({ done }) => !done))
      ? ['an update of the operator is mostly through in 15 minutes, and interrupts no VM and no network']
      : []),
    ...(hops.length > 0 ? [forecastNote(judged)] : []),
    ...expectedAlertNotes(judged),
    ...minorNotes(judged),
    ...wayBackNotes(judged),
    ...plannedNotes(judged),
  ]
}

function windowNotes({ sight }: Judged): readonly string[] {
  const pools = poolsToPause(sight)
  const checks = healthChecksOf(sight)
  return [
    'while workload updates are held, CPU and memory hotplug and moves to another storage wait, and the alert OutdatedVirtualMachineInstanceWorkloads fires after 24 h: both are expected',
    ...(pools.length > 0
      ? [
          'nodes of paused pools get no registry mirrors, pull secrets or kubelet settings: what every hop needs of these has to be on them before',
        ]
      : []),
    ...(checks.some(({ paused }) => !paused)
      ? ['health checks of machines and nodes are paused as well: what fails meanwhile is not replaced']
      : []),
    'at the end: methods back, VMs move, and only then are the pools unpaused, one at a time',
  ]
}

/** Night E2. That etcd was saved cannot be seen from here. */
function wayBackNotes(judged: Judged): readonly string[] {
  if (judged.hops.length === 0) return []
  return [
    ...(isMidWindow(judged)
      ? []
      : [
          'neither platform nor operator go back to an older minor: save etcd before the first hop, by /usr/local/bin/cluster-backup.sh on a control plane node, and what the VMs cannot lose',
        ]),
    'kvup eus abort ends a window: before a hop is accepted all goes back, behind it what is borrowed alone',
  ]
}

/** Night E12. */
function forecastNote({ sight: { evidence } }: Judged): string {
  const [methods] = itemsOf(evidence.methods)
  const [forecast] = itemsOf(evidence.forecast)
  if (methods === undefined || forecast === undefined)
    return 'what becomes of the VMs at the end is not known'
  const names = methods.length === 0 ? 'no methods' : methods.join(', ')
  return `with ${names} KubeVirt at the end, as VMs are now: ${forecastText(forecast)}`
}

/** ocp 6.3: where the launchers themselves have to follow. */
function minorNotes({ hops }: Judged): readonly string[] {
  return hops.some(({ minor }) => minor === '4.16')
    ? ['4.16 brings another base of the launchers: all VMs have to run it before the platform goes past 4.16']
    : []
}

/** What was only announced when the table was made may come otherwise; the graph and the cluster decide. */
function plannedNotes({ hops }: Judged): readonly string[] {
  const planned = hops.map(({ minor }) => minor).filter((minor) => platformMinor(minor)?.planned)
  return planned.length === 0
    ? []
    : [
        `what is said of ${[...new Set(planned)].join(', ')} is what was known on ${platformMinorsAsOf}; what the cluster says at each hop counts`,
      ]
}

const parts = {
  clusterOperators: 'what the parts of the platform say',
  nodes: 'which kubelets the nodes run',
  adminGates: 'which admin gates there are',
  adminAcks: 'which admin gates are acknowledged',
  infrastructure: 'whose control plane it is',
} as const

const healthCheckParts = {
  machineHealthChecks: 'which MachineHealthChecks have to be paused',
  nodeHealthChecks: 'which NodeHealthChecks have to be paused',
} as const

const lifecycleParts = {
  subscriptions: 'which Subscription moves the operator',
  csvs: 'which operator is installed',
  operatorGroups: 'how many OperatorGroups there are',
  operatorConditions: 'whether OLM holds the operator',
  catalogSources: 'whether the catalog answers',
  packageManifests: 'which channels the catalog has',
} as const

/** What could not be read, and what is not asked for. */
export function unknownOf(judged: Judged): readonly string[] {
  const { chosen, hops, route, sight } = judged
  const { evidence } = sight
  const { platform, lifecycle, methods, forecast, undrainable, outages, loans } = evidence
  const later = hops.filter(({ platform: { version } }) => version === undefined).map(({ minor }) => minor)
  return [
    ...chosen.unknown,
    ...(later.length > 0 ? [`which releases of ${later.join(', ')} there are when it is their turn`] : []),
    ...operatorUnknown(judged),
    ...unread(platform, route.way === 'plain' ? parts : { ...parts, ...healthCheckParts }),
    ...unread(lifecycle, lifecycleParts),
    ...unread(
      { methods, forecast, undrainable, outages, loans },
      {
        methods: 'which workload update methods to give back',
        forecast: 'what becomes of the VMs at the end',
        undrainable: 'which VMs deny their eviction',
        outages: 'which VMs are down while the node reboots',
        loans: 'what kvup has borrowed already',
      },
    ),
    ...unread({ alerts: evidence.alerts }, { alerts: 'which alerts fire' }),
  ]
}

/** Night E8 cannot be judged then. */
function operatorUnknown({ sight: { evidence }, releases }: Judged): readonly string[] {
  const version = operatorNow(evidence)?.version
  if (version === undefined || operatorMinorNow(evidence, releases) !== undefined) return []
  return [`which minor of the platform the operator ${version} belongs to: the release data do not know it`]
}

function unread<P extends string>(
  of: Readonly<Record<NoInfer<P>, Known<unknown>>>,
  words: Readonly<Record<P, string>>,
): string[] {
  return (Object.keys(words) as P[]).flatMap((part) => {
    const found = of[part]
    return found.known || found === notAsked ? [] : [`${words[part]}: ${found.why}`]
  })
}
