import type { ImageProbe } from '../facts/image-probe.ts'
import type { NodePool } from './node-pools.ts'
import type { Pulling, TargetImage } from './target-images.ts'

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
