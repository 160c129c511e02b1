import type { ImageProbe } from '../../kubevirt/full-snapshot.ts'
import type { Place, Pulling, TargetImage } from './target-images.ts'
import type { Question } from '../check-definition.ts'
import { isControlPlane, operandsNeedControlPlane, operatorNeedsControlPlane } from '../groups/node-checks.ts'
import { isNodeReady, nameOfNode, nodesWithHandler } from '../../kubevirt/component-status.ts'
import type { Node } from '../../kube/kinds/core-kinds.ts'
import { itemsOf } from '../../kube/known.ts'
import { componentLabel } from '../../kubevirt/installed-components.ts'
import type { Version } from '../../releases/release-versions.ts'

/** One image that is to be pulled on one node. */
export interface Probe {
  of: readonly string[]
  image: string
  needed: boolean
  nodes: readonly string[]
  node: string
  pulling: Pulling
}

/** What is to be tried, each image once per pool, and what cannot be. */
export interface ProbePlan {
  probes: readonly Probe[]
  untried: readonly ImageProbe[]
}

/** Pure. A pool without a ready node and an image that cannot be told are `untried`, with why. */
export function planProbes(images: readonly TargetImage[], pools: readonly NodePool[]): ProbePlan {
  const probes = new Map<string, Probe>()
  const untried: ImageProbe[] = []
  for (const image of images) {
    const places = pools.filter((pool) => pool.places.includes(image.place))
    for (const lack of lacks(image, places)) untried.push(lack)
    if (!('image' in image)) continue
    for (const { node, nodes } of places) if (node !== undefined) add(probes, { ...image, node, nodes })
  }
  return { probes: [...probes.values()], untried }
}

function lacks(image: TargetImage, pools: readonly NodePool[]): ImageProbe[] {
  if ('unknown' in image) return [lacking(image, [], image.unknown)]
  if (pools.length === 0) return [lacking(image, [], 'it has no node to run on')]
  return pools
    .filter(({ node }) => node === undefined)
    .map(({ nodes }) => lacking(image, nodes, notReady(nodes)))
}

const notReady = ([one, another]: readonly string[]): string =>
  one !== undefined && another === undefined ? `${one} is not ready` : 'no node of its pool is ready'

function lacking(image: TargetImage, nodes: readonly string[], why: string): ImageProbe {
  const known = 'image' in image ? { image: image.image } : {}
  return { ...known, of: [image.of], needed: image.needed, nodes, is: 'untried', why }
}

type Placed = Extract<TargetImage, { image: string }> & { node: string; nodes: readonly string[] }

function add(probes: Map<string, Probe>, { of, image, needed, node, nodes, pulling }: Placed): void {
  const key = JSON.stringify([image, node, pulling])
  const before = probes.get(key)
  const all = before === undefined ? [of] : [...before.of, of]
  probes.set(key, { of: all, image, needed: needed || before?.needed === true, node, nodes, pulling })
}

/** Nodes that pull alike, as far as their labels, taints and software tell. */
interface NodePool {
  /** What runs there. */
  places: readonly Place[]
  nodes: readonly string[]
  /** The one that is asked; undefined where none is ready. */
  node?: string
}

/** Every node on which a component of the target is going to run, in pools, sorted by name. */
export function nodePools(question: Question, target: Version): readonly NodePool[] {
  const nodes = itemsOf(question.snapshot.nodes)
  const homes = homesOf(question, target)
  const pools = Map.groupBy(
    nodes.filter((node) => placesOf(node, homes).length > 0).toSorted(byName),
    (node) => JSON.stringify([placesOf(node, homes), traitsOf(node)]),
  )
  return [...pools.values()].map((pool) => poolOf(pool, homes))
}

function poolOf(nodes: readonly Node[], homes: Homes): NodePool {
  const ready = nodes.filter(isNodeReady)
  const asked = ready.find(({ spec }) => !spec?.unschedulable) ?? ready[0]
  return {
    places: nodes.slice(0, 1).flatMap((node) => placesOf(node, homes)),
    nodes: nodes.map(nameOfNode),
    ...(asked && { node: nameOfNode(asked) }),
  }
}

const byName = (a: Node, b: Node): number => (nameOfNode(a) > nameOfNode(b) ? 1 : -1)

type Homes = Readonly<Record<Place, ReadonlySet<string>>>

const placesOf = ({ metadata }: Node, homes: Homes): Place[] =>
  (['operator', 'infra', 'workloads'] as const).filter((place) => homes[place].has(metadata.name))

/** What has to be on the control plane is there (facts 2.1); elsewhere it is taken to stay where it is now. */
function homesOf(question: Question, target: Version): Homes {
  const { snapshot } = question
  const controlPlane = itemsOf(snapshot.nodes).filter(isControlPlane).map(nameOfNode)
  const on = (needed: boolean, now: (component: string) => boolean) =>
    new Set(needed && controlPlane.length > 0 ? controlPlane : nodesNow(question, now))
  return {
    operator: on(operatorNeedsControlPlane(question, target), (name) => name === 'virt-operator'),
    infra: on(operandsNeedControlPlane(question, target), (name) => !elsewhere.has(name)),
    workloads: new Set(nodesWithHandler(snapshot).map(nameOfNode)),
  }
}

const elsewhere: ReadonlySet<string> = new Set(['virt-operator', 'virt-handler', 'virt-launcher'])

function nodesNow({ snapshot }: Question, isMeant: (component: string) => boolean): string[] {
  return itemsOf(snapshot.pods).flatMap((pod) => {
    const component = componentLabel(pod)
    return component && isMeant(component) && pod.spec?.nodeName ? [pod.spec.nodeName] : []
  })
}

/** By which clouds and people tell groups of nodes apart. */
const poolLabels = [
  'cloud.google.com/gke-nodepool',
  'eks.amazonaws.com/nodegroup',
  'karpenter.sh/nodepool',
  'kubernetes.azure.com/agentpool',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]

/** A taint of a trouble that passes makes no pool of its own. */
const isPassing = (key: string): boolean => key.startsWith('node.kubernetes.io/')

function traitsOf({ metadata, spec, status }: Node): unknown {
  const { architecture, containerRuntimeVersion, osImage } = status?.nodeInfo ?? {}
  const labels = metadata.labels ?? {}
  const roles = Object.keys(labels).filter((key) => key.startsWith('node-role.kubernetes.io/'))
  const taints = (spec?.taints ?? []).filter(({ key }) => !isPassing(key))
  return [
    [architecture, containerRuntimeVersion, osImage],
    roles.toSorted(),
    poolLabels.map((key) => labels[key] ?? ''),
    taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).toSorted(),
  ]
}
