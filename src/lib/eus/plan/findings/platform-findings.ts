import { blocker } from '../../../releases/hop-findings.ts'
import type { Finding } from '../../../checks/check-definition.ts'
import { kubeletSkew } from '../../../openshift/platform-status.ts'
import { itemsOf } from '../../../kube/known.ts'
import {
  armedUpdate,
  graveAlerts,
  notUpgradeable,
  poolTroubles,
  troubledOperators,
  unpausePool,
  unsteady,
} from '../../../openshift/platform-rules.ts'
import {
  asBlockers,
  isMidWindow,
  isOverridden,
  isWindowOpen,
  type Judged,
  type JudgedPool,
  unreadRemedy,
} from '../eus-snapshot.ts'
import { shellWord } from '../../../kube/shell-line.ts'
import { allWords, isExpected } from '../../../openshift/firing-alerts.ts'

/** What the platform itself says against the next minor, ClusterVersion first. */
export function platformFindings(judged: Judged): readonly Finding[] {
  return [
    ...owned(judged),
    ...asBlockers(unsteady(judged.snapshot.platformStatus)),
    ...asBlockers(armedUpdate(judged.snapshot.platformStatus)),
    ...forbidden(judged),
    ...skewed(judged),
    ...gates(judged),
    ...troubled(judged),
  ]
}

/** Whose it is, is refused (night E10); the others are told. */
function owned({ snapshot: { topology } }: Judged): readonly Finding[] {
  if (topology.is === 'hosted' || topology.is === 'managed')
    return blocker({
      id: 'not-ours-to-update',
      summary: `this platform is updated by ${topology.owner ?? 'someone else'} (${topology.because}): kvup changes neither its ClusterVersion nor its pools`,
      remedy: ['kvup check      says where KubeVirt alone stands'],
    })
  if (topology.is !== 'unknown') return []
  return [
    {
      id: 'topology-unknown',
      level: 'not-checked',
      summary: `kvup does not know whether you update this platform yourself: ${topology.because}`,
      remedy: [unreadRemedy(topology.because)],
    },
  ]
}

/** Admin gates are a finding of their own, and the message of a ClusterVersion that names nothing else adds nothing. */
function forbidden({ snapshot: { snapshot, platformStatus }, hops }: Judged): readonly Finding[] {
  const { upgradeable } = platformStatus
  const isGate =
    upgradeable.is === 'no' &&
    upgradeable.reason.startsWith('AdminAck') &&
    hops.some(({ adminGates }) => adminGates.length > 0)
  const [cv] = itemsOf(snapshot.platform.clusterVersion)
  if (isGate || cv === undefined || !crossesMinor(hops)) return []
  return asBlockers(notUpgradeable(cv, platformStatus))
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
    return blocker({
      id: 'kubelets-too-old',
      summary: `the kubelets forbid the next minor (${gate.reason}): ${gate.message}`,
      objects: ['clusteroperator/kube-apiserver'],
      remedy: [
        isWindowOpen(snapshot)
          ? 'kvup eus abort      ends this EUS upgrade, and the pools follow'
          : 'unpause the pools: their nodes then update to the current release',
        'oc get nodes      until the kubelets are at it',
      ],
    })
  if (route.intolerant === undefined || !isTooLong({ snapshot, route })) return []
  return blocker({
    id: 'window-too-long',
    summary: `a control plane of ${route.intolerant} does not support kubelets of ${snapshot.began}: pools cannot remain paused until ${route.to}`,
    remedy: [
      ...(isWindowOpen(snapshot) ? ['kvup eus abort      ends this EUS upgrade, and the pools follow'] : []),
      `kvup eus plan --to ${nearer(route)}      goes as far as the pools can remain paused`,
    ],
  })
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
  return blocker({
    id: 'admin-gates-open',
    summary: `the platform needs an acknowledgement from you, which kvup never gives: ${told}`,
    objects: ['configmap/admin-gates'],
    remedy: open.map(({ name }) => acknowledge(name)),
  })
}

const acknowledge = (name: string): string => {
  const patch = JSON.stringify({ data: { [name]: 'true' } })
  return `oc -n openshift-config patch configmap admin-acks --type=merge -p ${shellWord(patch)}`
}

/** While the platform updates they are on their way. */
function troubled({ snapshot: { snapshot, platformStatus } }: Judged): readonly Finding[] {
  return platformStatus.state === 'updating' ? [] : asBlockers(troubledOperators(snapshot.platform))
}

/** Before anything is paused every pool is through with what it has to do (night E5). */
export function poolFindings(judged: Judged): readonly Finding[] {
  const { snapshot, pools } = judged.snapshot
  if (!snapshot.platform.pools.known) return [unread(snapshot.platform.pools.why)]
  return [...asBlockers(poolTroubles(pools)), ...pausedAlready(judged), ...notUpdated(judged)]
}

const names = (pools: readonly JudgedPool[]): string => pools.map(({ name }) => name).join(', ')
const objects = (pools: readonly JudgedPool[]): string[] =>
  pools.map(({ name }) => `machineconfigpool/${name}`)

const unread = (why: string): Finding => ({
  id: 'pools-not-updated',
  level: 'not-checked',
  summary: `kvup does not know whether every machine config pool is updated: ${why}`,
  remedy: [unreadRemedy(why)],
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
    ? 'someone started an EUS upgrade by hand; kvup leaves them paused at the end'
    : 'not by kvup, which does not unpause them'
  return blocker({
    id: 'pool-paused-already',
    summary: `${foreign.length === 1 ? 'pool' : 'pools'} ${names(foreign)} ${foreign.length === 1 ? 'is' : 'are'} paused: ${why}`,
    objects: objects(foreign),
    remedy: inWindow
      ? [
          ...foreign.map(
            ({ name }) =>
              `oc get machineconfigpool ${shellWord(name)} -o yaml --show-managed-fields     shows who paused it`,
          ),
          'kvup eus plan --accept pool-paused-already      continues with them paused',
        ]
      : foreign.map(({ name }) => unpausePool(name)),
  })
}

/** One that is paused and behind is the finding above, or the window itself. */
function notUpdated({ snapshot }: Judged): readonly Finding[] {
  const busy = snapshot.pools.filter(({ state, isMaster, paused }) =>
    isMaster
      ? state === 'updating' || state === 'pending'
      : !paused && ['updating', 'pending'].includes(state),
  )
  if (busy.length === 0) return []
  const how = busy.map(({ name, updated, machines }) => `${name} (${updated} of ${machines} nodes)`)
  return blocker({
    id: 'pools-not-updated',
    summary: `not every machine config pool is updated: ${how.join(', ')}. A paused pool does not get its pending changes`,
    objects: objects(busy),
    remedy: ['oc get machineconfigpools      until each is UPDATED=True and UPDATING=False'],
  })
}

/** What fires already, in front of a hop. */
export function alertFindings({ snapshot, hops }: Judged): readonly Finding[] {
  return hops.length === 0 ? [] : graveAlerts(snapshot.snapshot)
}

/** What fires and is as it should be. */
export function expectedAlertNotes({ snapshot }: Judged): readonly string[] {
  if (!isWindowOpen(snapshot)) return []
  return allWords(itemsOf(snapshot.snapshot.alerts).filter(({ name }) => isExpected(name))).map(
    (words) => `the alert ${words} fires: this is expected during an EUS upgrade`,
  )
}
