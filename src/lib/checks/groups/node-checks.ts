import type { Node } from '../../kube/kinds/core-kinds.ts'
import { condition } from '../../kube/object.ts'
import { since } from '../../kube/timestamps.ts'
import { itemsOf } from '../../kube/known.ts'
import { spanText } from '../../kube/duration.ts'
import { type Check, type Question, checksOf, type Found, lacksHop } from '../check-definition.ts'
import { counted, someOf } from '../../kube/text.ts'
import {
  handlerSet,
  isNodeReady,
  nameOfNode,
  nodesWithHandler,
  untolerated,
  wantsHandler,
} from '../../kubevirt/component-status.ts'
import { compareVersions, type Version, versionOf, isBefore } from '../../releases/release-versions.ts'
import type { Releases } from '../../releases/releases.ts'
import { hollowNodes } from '../../kubevirt/hollow-nodes.ts'
import { undecided } from '../../kubevirt/installation.ts'
import { setField } from '../field-remedy.ts'
import { keepGatesOff } from './customization-checks.ts'
import type { FullSnapshot } from '../../kubevirt/full-snapshot.ts'

const nodeCheck = checksOf('nodes')

/** One such node keeps virt-handler short for ever, and no condition says why (facts 2.9). */
export const nodeReady = nodeCheck('node-ready', {
  title: 'no virt-handler runs on a node that is not ready',
  unchecked: 'nodes that are not ready were not looked for',
  needs: ['nodes', 'pods', 'daemonsets'],
  runbook: 'VirtHandlerDaemonSetRolloutFailing',
  blocks: true,
  assess(question) {
    const names = waitedFor(question)
    const [first] = names
    if (first === undefined) return undefined
    const said = waitedForNodes(question).map((node) => described(node, question.at))
    return {
      level: 'blocker',
      summary: `${counted(names.length, 'node', ['is', 'are'])} not ready: ${someOf(said)}. virt-handler cannot be updated there, so the update never ends`,
      objects: names.map((name) => `node/${name}`),
      standsAt: `virt-handler on ${someOf(names)}`,
      // Deleting the Node of a machine that still runs starts its VMs a second time elsewhere: data corruption. It is no line to paste.
      remedy: [
        `kubectl describe node ${first}     shows why: repair the node`,
        'delete the Node object only after you powered the machine off, else its VMs start twice',
      ],
    }
  },
})

const waitedFor = (question: Question): readonly string[] => waitedForNodes(question).map(nameOfNode)

function waitedForNodes({ snapshot }: Question): readonly Node[] {
  const held = new Set(nodesWithHandler(snapshot))
  const set = handlerSet(snapshot)
  return itemsOf(snapshot.nodes).filter(
    (node) => !isNodeReady(node) && (held.has(node) || wantsHandler(node, set)),
  )
}

function described(node: Node, at: Date): string {
  const age = since(condition(node, 'Ready')?.lastTransitionTime, at)
  return age === undefined ? node.metadata.name : `${node.metadata.name} for ${spanText(age)}`
}

/** A virt-handler that its DaemonSet would not put there any more makes the counts disagree (facts 2.8, 2.9 and 8: PR 10254). */
export const nodeSchedulable = nodeCheck('node-schedulable', {
  title: 'every node with a virt-handler accepts new pods',
  unchecked: 'nodes that accept no new pods were not looked for',
  needs: ['nodes', 'pods', 'daemonsets'],
  assess({ snapshot }) {
    const set = handlerSet(snapshot)
    const held = nodesWithHandler(snapshot)
    const tainted = held.filter((node) => untolerated(node, set).length > 0)
    const cordoned = held.filter((node) => node.spec?.unschedulable === true)
    return [taintFinding(tainted), cordonFinding(cordoned)]
  },
})

function taintFinding(nodes: readonly Node[]): Found | undefined {
  const [first] = nodes
  if (!first) return undefined
  const names = nodes.map(nameOfNode)
  return {
    level: 'warning',
    summary: `virt-handler runs on ${counted(nodes.length, 'node')} with a taint that it does not tolerate (${someOf(names)}): it does not return there once it is replaced`,
    objects: names.map((name) => `node/${name}`),
    remedy: [`kubectl get node ${first.metadata.name} -o jsonpath='{.spec.taints}'`],
  }
}

function cordonFinding(nodes: readonly Node[]): Found | undefined {
  const [first] = nodes
  if (!first) return undefined
  const names = nodes.map(nameOfNode)
  return {
    level: 'warning',
    summary: `${counted(nodes.length, 'node', ['is', 'are'])} cordoned (${someOf(names)}): virt-handler is updated there, but no VM can migrate to it`,
    objects: names.map((name) => `node/${name}`),
    remedy: [`kubectl uncordon ${first.metadata.name}`],
  }
}

const annotation = 'kubevirt.io/heartbeat'
/** After that long virt-controller takes the node for dead, and its VMs with it (facts 8, #2397). */
const patience = 5 * 60_000

/** A node that never had one is virt-handler's not being ready yet, which the state of the installation says. */
export const heartbeat = nodeCheck('heartbeat', {
  title: 'no virt-handler has been silent for five minutes',
  unchecked: 'the heartbeats of virt-handler were not checked',
  needs: ['nodes', 'pods'],
  assess(question) {
    const silent = nodesWithHandler(question.snapshot).filter((node) => silence(node, question) > patience)
    const [first] = silent
    if (!first) return undefined
    const { namespace } = question.installation
    const said = silent.map((node) => `${node.metadata.name} for ${spanText(silence(node, question))}`)
    return {
      level: 'warning',
      summary: `virt-handler is silent on ${counted(silent.length, 'node')}: ${someOf(said)}. KubeVirt may mark the VMs there as failed`,
      objects: silent.map(({ metadata }) => `node/${metadata.name}`),
      remedy: [
        `kubectl -n ${namespace} get pods -l kubevirt.io=virt-handler --field-selector spec.nodeName=${first.metadata.name}`,
      ],
    }
  },
})

function silence({ metadata }: Node, { at }: Question): number {
  return since(metadata.annotations?.[annotation], at) ?? 0
}

/** A device plugin that stopped, or a node that lost virtualization: VMs are not placed there, and those that are there do not come back. */
export const kvmDevices = nodeCheck('kvm-devices', {
  title: 'every node that takes VMs offers /dev/kvm',
  unchecked: '/dev/kvm was not looked for',
  needs: ['nodes', 'pods'],
  assess({ snapshot, installation }) {
    const { nodes, pods } = snapshot
    const found = hollowNodes({ nodes: itemsOf(nodes), pods: itemsOf(pods), installation })
    return (
      found && {
        level: 'warning',
        summary: found.sentence,
        objects: found.names.map((name) => `node/${name}`),
        remedy: found.remedy,
      }
    )
  },
})

/** Without such a node the strategy Job, virt-api and virt-controller stay Pending, without a word (facts 2.1 and 8: #12390). */
export const controlPlaneLabel = nodeCheck('control-plane-label', {
  title: 'a node has the control-plane label that the target needs',
  unchecked: 'the control-plane label was not looked for',
  needs: ['nodes'],
  needsTarget: true,
  blocks: true,
  assess(question) {
    const { target, snapshot } = question
    if (!target || itemsOf(snapshot.nodes).some(isControlPlane)) return undefined
    const who = affected(question, target)
    if (who.length === 0) return undefined
    return {
      level: 'blocker',
      summary: `no node has the label node-role.kubernetes.io/control-plane, and ${who.join(' and ')} of ${target.text} run nowhere else`,
      standsAt: `the pods of ${who.join(' and ')}`,
      remedy: ['kubectl get nodes --show-labels', ...relief(question, target)],
    }
  },
})

function affected(question: Question, target: Version): string[] {
  return [
    ...(operatorNeedsControlPlane(question, target) ? ['virt-operator'] : []),
    ...(operandsNeedControlPlane(question, target) ? ['virt-api, virt-controller and the strategy Job'] : []),
  ]
}

/** What helps the operands does not help the operator: there only the label does. */
function relief(question: Question, target: Version): readonly string[] {
  const [node] = itemsOf(question.snapshot.nodes)
  if (operatorNeedsControlPlane(question, target))
    return node ? [`kubectl label node ${node.metadata.name} node-role.kubernetes.io/control-plane=`] : []
  return setField(question, 'spec.infra.nodePlacement', { value: {} })
}

const labels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

/** By its labels, whose values do not matter. */
export function isControlPlane({ metadata }: Node): boolean {
  return labels.some((label) => Object.hasOwn(metadata.labels ?? {}, label))
}

/** Operands since v1.3; an `infra.nodePlacement` in the KubeVirt, be it empty, takes the built-in affinity away (facts 1.1, 2.1). */
export function operandsNeedControlPlane({ installation }: Question, version: Version): boolean {
  return !isBefore(version, 3) && installation.kubevirt.spec?.infra?.nodePlacement === undefined
}

/** virt-operator's own Deployment since v1.7, which the KubeVirt says nothing of; a tag does not replace it. */
export function operatorNeedsControlPlane({ method }: Question, version: Version): boolean {
  return !isBefore(version, 7) && method !== 'image-tag'
}

type Gate = Releases['newGates'][number]

/** A Beta gate is on from v1.9 on, and VMs fail on nodes that lack what it needs (night C2, facts 1.3, 8). */
export const newGates = nodeCheck('new-gates', {
  title: 'the nodes support the feature gates that the target turns on by default',
  unchecked: 'new feature gates were not checked',
  needs: ['nodes', 'pods'],
  needsTarget: true,
  blocks: true,
  lacks: (question) => lacksHop(question) ?? untoldNodes(question),
  assess(question) {
    const nodes = nodesWithHandler(question.snapshot)
    return turnedOn(question).map((gate) => findings(gate, nodes, question))
  },
})

/** Nodes that do not tell what a gate needs of them, and none at all. */
function untoldNodes(question: Question): string | undefined {
  const gates = turnedOn(question)
  const nodes = nodesWithHandler(question.snapshot)
  if (gates.length === 0) return undefined
  if (nodes.length === 0) return 'no node with a virt-handler was found'
  const untold = nodes.filter((node) => gates.some((gate) => !tells(node, gate)))
  if (untold.length === 0) return undefined
  const names = gates.map(({ gate }) => gate).join(', ')
  return `kubelet and container runtime of ${someOf(untold.map(nameOfNode), untold.length)} do not show whether they support ${names}`
}

/** A runtime that is known and none of containerd is judged by its kubelet. */
function tells({ status }: Node, { needs }: Gate): boolean {
  const { kubeletVersion, containerRuntimeVersion = '' } = status?.nodeInfo ?? {}
  const isKubelet = needs.kubelet === undefined || atLeast(kubeletVersion, needs.kubelet) !== undefined
  const runtime = containerRuntimeVersion.startsWith('containerd://')
    ? atLeast(containerRuntimeVersion, needs.containerd ?? '0') !== undefined
    : containerRuntimeVersion !== ''
  return isKubelet && (needs.containerd === undefined || runtime)
}

/** Not those that somebody decided on: listed as disabled, or on already. */
function turnedOn({ releases, rolloutStatus, target, installation }: Question): readonly Gate[] {
  const from = versionOf(rolloutStatus.observed.version)
  return releases.newGates.filter(
    (gate) => undecided([gate.gate], installation).length > 0 && isBetween(gate.in, from, target),
  )
}

/** Later than what is installed (where that is known), not later than the target. */
function isBetween(minor: string, from: Version | undefined, target: Version | undefined): boolean {
  const first = versionOf(`${minor}.0`)
  if (!first || !target || compareVersions(first, { ...target, text: bare(target) }) > 0) return false
  return !from || compareVersions({ ...from, text: bare(from) }, first) < 0
}

/** A pre-release has the gates of its release. */
const bare = ({ major, minor, patch }: Version): string => `v${major}.${minor}.${patch}`

function findings(gate: Gate, nodes: readonly Node[], question: Question): Found | undefined {
  const lacking = nodes.filter((node) => lacks(node, gate).length > 0)
  const [first] = lacking
  if (!first) return undefined
  const said = lacking.map((node) => `${node.metadata.name} (${lacks(node, gate).join(', ')})`)
  return {
    level: 'blocker',
    summary: `${gate.in} turns ${gate.gate} on by default, and ${counted(lacking.length, 'node', ['is', 'are'])} too old for it: ${someOf(said)}`,
    objects: lacking.map(({ metadata }) => `node/${metadata.name}`),
    remedy: keepGatesOff([gate.gate], question),
  }
}

/** Of other container runtimes than containerd nothing is known, so nothing is said. */
function lacks({ status }: Node, { needs }: Gate): string[] {
  const { kubeletVersion, containerRuntimeVersion = '' } = status?.nodeInfo ?? {}
  const runtime = containerRuntimeVersion.startsWith('containerd://') ? containerRuntimeVersion : undefined
  return [
    ...(needs.kubelet !== undefined && atLeast(kubeletVersion, needs.kubelet) === false
      ? [`kubelet ${kubeletVersion}, needs ${needs.kubelet}`]
      : []),
    ...(needs.containerd !== undefined && atLeast(runtime, needs.containerd) === false
      ? [`${containerRuntimeVersion}, needs ${needs.containerd}`]
      : []),
  ]
}

/** `v1.33.4+k3s1`, `1.35`, `containerd://2.3.2-rc.1`: by its numbers alone. Undefined where there are none. */
export function atLeast(has: string | undefined, needs: string): boolean | undefined {
  const found = numbers(has ?? '')
  if (found === undefined) return undefined
  const wanted = numbers(needs) ?? []
  for (const [i, want] of wanted.entries()) {
    const have = found[i] ?? 0
    if (have !== want) return have > want
  }
  return true
}

function numbers(text: string): readonly number[] | undefined {
  return /\d+(?:\.\d+)*/u.exec(text)?.[0].split('.').map(Number)
}

/**
 * Deployments are rolled with one pod more than they have. Pods of others are not read, so a pass says only that
 * KubeVirt's own pods leave room.
 */
export const roomForSurge = nodeCheck('room-for-surge', {
  title: 'a ready node has room for one extra KubeVirt pod',
  unchecked: 'room for one extra KubeVirt pod was not looked for',
  needs: ['nodes', 'pods'],
  assess(question) {
    const places = placesOf(question)
    if (places.nodes.some((node) => mayTakeOne(node, question.snapshot))) return undefined
    const what = places.controlPlane ? 'control-plane node' : 'node'
    return {
      level: 'warning',
      summary: `no ${what} is ready, uncordoned and below its pod limit: a new virt-api or virt-controller stays Pending`,
      objects: places.nodes.map(({ metadata }) => `node/${metadata.name}`),
      remedy: [
        'kubectl get nodes -o custom-columns=NODE:.metadata.name,CORDONED:.spec.unschedulable,PODS:.status.allocatable.pods',
      ],
    }
  },
})

function placesOf(question: Question): { controlPlane: boolean; nodes: readonly Node[] } {
  const nodes = itemsOf(question.snapshot.nodes)
  const { target } = question
  const controlPlane = target !== undefined && operandsNeedControlPlane(question, target)
  return { controlPlane, nodes: controlPlane ? nodes.filter(isControlPlane) : nodes }
}

function mayTakeOne(node: Node, { pods }: FullSnapshot): boolean {
  if (!isNodeReady(node) || node.spec?.unschedulable) return false
  const there = itemsOf(pods).filter(({ spec }) => spec?.nodeName === node.metadata.name).length
  const limit = Number(node.status?.allocatable?.['pods'] ?? Number.POSITIVE_INFINITY)
  return there < limit
}

/** Nodes at different versions are nodes in the middle of their own update (night C4). */
const versionSkew = nodeCheck('version-skew', {
  title: 'all nodes run the same kubelet',
  unchecked: 'the kubelets were not compared',
  needs: ['nodes'],
  lacks({ snapshot }) {
    const untold = itemsOf(snapshot.nodes).filter(({ status }) => !status?.nodeInfo?.kubeletVersion)
    return untold.length === 0
      ? undefined
      : `${someOf(untold.map(nameOfNode), untold.length)} ${untold.length === 1 ? 'does' : 'do'} not report a kubelet version`
  },
  assess(question) {
    const byVersion = nodesByVersion(question)
    if (byVersion.size < 2) return undefined
    const said = [...byVersion].map(([version, names]) => `${version} on ${names.length}`).join(', ')
    const fewest = [...byVersion.values()].toSorted((a, b) => a.length - b.length)[0] ?? []
    return {
      level: 'warning',
      summary: `the nodes run different kubelets: ${said}. An update of Kubernetes seems to be running`,
      objects: fewest.map((name) => `node/${name}`),
      remedy: ['kubectl get nodes -o wide'],
    }
  },
})

function nodesByVersion({ snapshot }: Question): Map<string, string[]> {
  const byVersion = new Map<string, string[]>()
  for (const { metadata, status } of itemsOf(snapshot.nodes)) {
    const version = status?.nodeInfo?.kubeletVersion
    if (version !== undefined) byVersion.set(version, [...(byVersion.get(version) ?? []), metadata.name])
  }
  return byVersion
}

/** Whether every node can follow, and the target has where to run. */
export const nodeChecks: readonly Check[] = [
  nodeReady,
  nodeSchedulable,
  heartbeat,
  kvmDevices,
  controlPlaneLabel,
  newGates,
  roomForSurge,
  versionSkew,
]
