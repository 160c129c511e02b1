import type { Finding } from '../../../checks/finding.ts'
import { someOf } from '../../../system/some-of.ts'
import { clusterOperatorStandings } from '../../../facts/openshift/operator-standings.ts'
import { kubeletSkew } from '../../../facts/openshift/kubelet-skew.ts'
import { itemsOf } from '../../../facts/known.ts'
import { unreadRemedy } from './unread-remedy.ts'
import { shellWord } from '../../../system/shell-word.ts'
import type { Judged } from '../judged.ts'
import { isWindowOpen } from '../open-window.ts'

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

/** Night E10: whose it is, is refused; the others are told. */
function owned({ sight: { topology } }: Judged): readonly Finding[] {
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
function unsteady({ sight: { standing } }: Judged): readonly Finding[] {
  const { failing, state, message, current, target } = standing
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

/** Night E6: it starts by itself as soon as nothing speaks against it any more. */
function armed({ sight: { standing } }: Judged): readonly Finding[] {
  if (standing.armed === undefined) return []
  const { version, image } = standing.armed
  const { accepted } = standing
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
function notUpgradeable({ sight: { standing }, hops }: Judged): readonly Finding[] {
  const { upgradeable } = standing
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
export function isTooLong({ sight, route }: Pick<Judged, 'sight' | 'route'>): boolean {
  const isNext = sight.began !== sight.here && route.intolerant === route.minors[0]
  if (route.intolerant === undefined) return false
  return !isNext || kubeletSkew(sight.evidence.platform.clusterOperators).is !== 'yes'
}

/** Accepted by nobody: the platform itself refuses the hop, with the pools paused in front of it (ocp 3.4). */
function skewed({ sight, route, hops }: Judged): readonly Finding[] {
  const gate = kubeletSkew(sight.evidence.platform.clusterOperators)
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
  if (route.intolerant === undefined || !isTooLong({ sight, route })) return []
  return [
    {
      id: 'window-too-long',
      level: 'blocker',
      summary: `a control plane of ${route.intolerant} does not tolerate kubelets of ${sight.began}: pools cannot stay behind until ${route.to}`,
      remedy: [
        ...(isWindowOpen(sight) ? ['kvup eus abort      ends this window, and the pools follow'] : []),
        `kvup eus plan --to ${nearer(route)}      goes as far as the pools may stay behind`,
      ],
    },
  ]
}

/** The minor before the one that does not tolerate them, or that one alone as a plain hop. */
function nearer({ minors, intolerant = '' }: Judged['route']): string {
  return minors[minors.indexOf(intolerant) - 1] ?? intolerant
}

/** ocp 3.3. Shown, never acknowledged. */
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
function troubled({ sight }: Judged): readonly Finding[] {
  const { clusterOperators } = sight.evidence.platform
  const updating = sight.standing.state === 'updating'
  const bad = clusterOperatorStandings(itemsOf(clusterOperators)).filter(
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
