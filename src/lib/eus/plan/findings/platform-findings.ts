import type { Finding } from '../../../checks/check-definition.ts'
import { someOf } from '../../../kube/text.ts'
import { assessClusterOperators, kubeletSkew } from '../../../openshift/platform-status.ts'
import { itemsOf } from '../../../kube/known.ts'
import {
  isMidWindow,
  isOverridden,
  isWindowOpen,
  type Judged,
  type JudgedPool,
  unreadRemedy,
} from '../eus-snapshot.ts'
import { shellWord } from '../../../kube/shell-line.ts'
import { allWords, askAlerts, isExpected, isGrave } from '../../../openshift/firing-alerts.ts'

/** What the platform itself says against the next minor, ClusterVersion first. */
export function platformFindings(judged: Judged): readonly Finding[] {
  return [
    ...owned(judged),
    ...unsteady(judged),
    ...armed(judged),
    ...notUpgradeable(judged),
    ...skewed(judged),
    ...gates(judged),
    ...troubled(judged),
  ]
}

/** Whose it is, is refused (night E10); the others are told. */
function owned({ snapshot: { topology } }: Judged): readonly Finding[] {
  if (topology.is === 'hosted' || topology.is === 'managed')
    return [
      {
        id: 'not-ours-to-update',
        level: 'blocker',
        summary: `this platform is updated by ${topology.owner ?? 'somebody else'} (${topology.because}): kvup writes neither its ClusterVersion nor its pools`,
        remedy: ['kvup upgrade      updates KubeVirt where its operator offers it'],
      },
    ]
  if (topology.is !== 'unknown') return []
  return [
    {
      id: 'topology-unknown',
      level: 'not-checked',
      summary: `whether this platform is updated by its administrator: ${topology.because}`,
      remedy: [unreadRemedy(topology.because)],
    },
  ]
}

/** Slow is no failure; an update that is under way is the hop. */
function unsteady({ snapshot: { platformStatus } }: Judged): readonly Finding[] {
  const { failing, state, message, current, target } = platformStatus
  if (failing !== 'True' && state !== 'partial' && current) return []
  const what =
    failing === 'True'
      ? `it is failing: ${message || 'it does not say why'}`
      : state === 'partial'
        ? `the update to ${target ?? 'another release'} stopped half-way: ${message}`
        : 'its status is not yet about what was asked for last'
  return [
    {
      id: 'platform-not-steady',
      level: 'blocker',
      summary: `the ClusterVersion is not steady: ${what}`,
      objects: ['clusterversion/version'],
      remedy: ['oc adm upgrade'],
    },
  ]
}

/** It starts by itself as soon as nothing speaks against it any more (night E6). */
function armed({ snapshot: { platformStatus } }: Judged): readonly Finding[] {
  if (platformStatus.armed === undefined) return []
  const { version, image } = platformStatus.armed
  const { accepted } = platformStatus
  const why = accepted.is === 'no' ? `: ${accepted.message}` : ''
  return [
    {
      id: 'update-armed',
      level: 'blocker',
      summary: `an update to ${version ?? image ?? 'another release'} is asked for and not running${why}. It starts by itself when that passes`,
      objects: ['clusterversion/version'],
      remedy: ['oc adm upgrade --clear'],
    },
  ]
}

/** Admin gates are a finding of their own, and the message of a ClusterVersion that names nothing else adds nothing. */
function notUpgradeable({ snapshot: { platformStatus }, hops }: Judged): readonly Finding[] {
  const { upgradeable } = platformStatus
  if (upgradeable.is !== 'no') return []
  const isGate =
    upgradeable.reason.startsWith('AdminAck') && hops.some(({ adminGates }) => adminGates.length > 0)
  if (isGate || !crossesMinor(hops)) return []
  return [
    {
      id: 'platform-not-upgradeable',
      level: 'blocker',
      summary: `the ClusterVersion forbids the next minor (${upgradeable.reason}): ${upgradeable.message}`,
      objects: ['clusterversion/version'],
      remedy: ['oc adm upgrade'],
    },
  ]
}

const crossesMinor = (hops: Judged['hops']): boolean => hops.some(({ platform }) => !platform.done)

/** What the cluster says of its next minor wins over the table, in both directions (ocp 3.4). */
export function isTooLong({ snapshot, route }: Pick<Judged, 'snapshot' | 'route'>): boolean {
  const isNext = snapshot.began !== snapshot.here && route.intolerant === route.minors[0]
  if (route.intolerant === undefined) return false
  return !isNext || kubeletSkew(snapshot.snapshot.platform.clusterOperators).is !== 'yes'
}

/** Accepted by nobody: the platform itself refuses the hop, with the pools paused in front of it (ocp 3.4). */
function skewed({ snapshot, route, hops }: Judged): readonly Finding[] {
  const gate = kubeletSkew(snapshot.snapshot.platform.clusterOperators)
  if (gate.is === 'no' && crossesMinor(hops))
    return [
      {
        id: 'kubelets-too-old',
        level: 'blocker',
        summary: `the kubelets forbid the next minor (${gate.reason}): ${gate.message}`,
        objects: ['clusteroperator/kube-apiserver'],
        remedy: [
          'kvup eus restore      gives paused pools back; they follow to the present release then',
          'oc get nodes      until the kubelets are at it',
        ],
      },
    ]
  if (route.intolerant === undefined || !isTooLong({ snapshot, route })) return []
  return [
    {
      id: 'window-too-long',
      level: 'blocker',
      summary: `a control plane of ${route.intolerant} does not tolerate kubelets of ${snapshot.began}: pools cannot stay behind until ${route.to}`,
      remedy: [
        ...(isWindowOpen(snapshot) ? ['kvup eus abort      ends this window, and the pools follow'] : []),
        `kvup eus plan --to ${nearer(route)}      goes as far as the pools may stay behind`,
      ],
    },
  ]
}

/** The minor before the one that does not tolerate them, or that one alone as a plain hop. */
function nearer({ minors, intolerant = '' }: Judged['route']): string {
  return minors[minors.indexOf(intolerant) - 1] ?? intolerant
}

/** Admin gates that are open: they are shown, and never acknowledged by kvup (ocp 3.3). */
function gates({ hops }: Judged): readonly Finding[] {
  const open = hops.flatMap(({ adminGates }) => adminGates)
  if (open.length === 0) return []
  const told = open.map(({ name, text }) => `${name}: ${text}`).join('; ')
  return [
    {
      id: 'admin-gates-open',
      level: 'blocker',
      summary: `the platform wants to be told that something was read and done, which kvup never does: ${told}`,
      objects: ['configmap/admin-gates'],
      remedy: open.map(({ name }) => acknowledge(name)),
    },
  ]
}

const acknowledge = (name: string): string => {
  const patch = JSON.stringify({ data: { [name]: 'true' } })
  return `oc -n openshift-config patch configmap admin-acks --type=merge -p ${shellWord(patch)}`
}

/** One that is degraded is not waited for here: its update would not end. */
function troubled({ snapshot }: Judged): readonly Finding[] {
  const { clusterOperators } = snapshot.snapshot.platform
  const updating = snapshot.platformStatus.state === 'updating'
  const bad = assessClusterOperators(itemsOf(clusterOperators)).filter(
    ({ available, degraded }) => !updating && (!available || degraded !== undefined),
  )
  if (bad.length === 0) return []
  return [
    {
      id: 'cluster-operators-degraded',
      level: 'blocker',
      summary: `${someOf(bad.map(({ name }) => name))} ${bad.length === 1 ? 'is' : 'are'} degraded or not available: ${bad[0]?.degraded?.message ?? 'not available'}`,
      objects: bad.map(({ name }) => `clusteroperator/${name}`),
      remedy: ['oc get clusteroperators'],
    },
  ]
}

/** Before anything is paused every pool is through with what it has to do (night E5). */
export function poolFindings(judged: Judged): readonly Finding[] {
  const { snapshot, pools } = judged.snapshot
  if (!snapshot.platform.pools.known) return [unread(snapshot.platform.pools.why)]
  return [
    ...pools.filter(({ state }) => state === 'degraded').map(degraded),
    ...pools.filter(({ isMaster, paused }) => isMaster && paused).map(masterPaused),
    ...pausedAlready(judged),
    ...notUpdated(judged),
  ]
}

const names = (pools: readonly JudgedPool[]): string => pools.map(({ name }) => name).join(', ')
const objects = (pools: readonly JudgedPool[]): string[] =>
  pools.map(({ name }) => `machineconfigpool/${name}`)
const unpause = ({ name }: JudgedPool): string =>
  `oc patch machineconfigpool ${shellWord(name)} --type=merge -p '{"spec":{"paused":false}}'`

const unread = (why: string): Finding => ({
  id: 'pools-not-updated',
  level: 'not-checked',
  summary: `whether every machine config pool is updated: ${why}`,
  remedy: [unreadRemedy(why)],
})

const degraded = (pool: JudgedPool): Finding => ({
  id: 'pool-degraded',
  level: 'blocker',
  summary: `pool ${pool.name} is degraded: ${pool.message || 'it does not say why'}`,
  objects: objects([pool]),
  remedy: [`oc describe machineconfigpool ${shellWord(pool.name)}`],
})

const masterPaused = (pool: JudgedPool): Finding => ({
  id: 'master-paused',
  level: 'blocker',
  summary: `pool ${pool.name} is paused: the platform cannot be updated while it is`,
  objects: objects([pool]),
  remedy: [unpause(pool)],
})

/** Those that kvup has not borrowed are somebody's decision, and not given back by it. In a window that was begun by hand they are the window. */
function pausedAlready(judged: Judged): readonly Finding[] {
  const { snapshot, route } = judged
  const foreign = snapshot.pools.filter(
    ({ name, paused, isMaster }) => paused && !isMaster && !isOverridden(snapshot, `pool-paused/${name}`),
  )
  if (foreign.length === 0) return []
  const inWindow = isMidWindow(judged) && route.mode === 'control-plane-only'
  const why = inWindow
    ? 'a window was begun by hand; kvup leaves them paused at the end'
    : 'not by kvup, which neither counts on it nor gives it back'
  return [
    {
      id: 'pool-paused-already',
      level: 'blocker',
      summary: `${foreign.length === 1 ? 'pool' : 'pools'} ${names(foreign)} ${foreign.length === 1 ? 'is' : 'are'} paused: ${why}`,
      objects: objects(foreign),
      remedy: inWindow
        ? ['kvup eus plan --accept pool-paused-already      goes on with them as they are']
        : foreign.map(unpause),
    },
  ]
}

/** One that is paused and behind is the finding above, or the window itself. */
function notUpdated({ snapshot }: Judged): readonly Finding[] {
  const busy = snapshot.pools.filter(({ state, isMaster, paused }) =>
    isMaster
      ? state === 'updating' || state === 'pending'
      : !paused && ['updating', 'pending'].includes(state),
  )
  if (busy.length === 0) return []
  const how = busy.map(({ name, updated, machines }) => `${name} (${updated} of ${machines} machines)`)
  return [
    {
      id: 'pools-not-updated',
      level: 'blocker',
      summary: `not every machine config pool is updated: ${how.join(', ')}. What is pending when a pool is paused does not reach its nodes`,
      objects: objects(busy),
      remedy: ['oc get machineconfigpools      until each is UPDATED=True and UPDATING=False'],
    },
  ]
}

/** What fires already and does not go well with a drain. Not a blocker: platform and operator say themselves what they refuse. */
export function alertFindings({ snapshot, hops }: Judged): readonly Finding[] {
  const grave = allWords(itemsOf(snapshot.snapshot.alerts).filter(isGrave))
  if (grave.length === 0 || hops.length === 0) return []
  return [
    {
      id: 'alerts-firing',
      level: 'warning',
      summary: `${grave.length === 1 ? 'a grave alert fires' : `${grave.length} grave alerts fire`}: ${someOf(grave)}`,
      objects: grave,
      remedy: [askAlerts],
    },
  ]
}

/** What fires and is as it should be. */
export function expectedAlertNotes({ snapshot }: Judged): readonly string[] {
  if (!isWindowOpen(snapshot)) return []
  return allWords(itemsOf(snapshot.snapshot.alerts).filter(({ name }) => isExpected(name))).map(
    (words) => `the alert ${words} fires: that is expected in a window`,
  )
}
