import type { Reader } from '../../cluster/cluster.ts'
import type { KubeVirt } from '../../cluster/kinds/kubevirt.ts'
import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'
import { known } from '../../facts/known.ts'
import { sharingOf, type Sharing } from '../forecast/launcher-resources.ts'
import { Neighbours } from '../forecast/neighbours.ts'
import { placeFor, refusalsText } from '../forecast/placement.ts'
import { type Places, readPlaces } from '../forecast/places.ts'
import { startDemandOf } from '../forecast/start-demand.ts'
import { LocalVolumes } from './local-volumes.ts'

/** Where a VM could start again after its pod has ended: asked before each restart (night W2). What may not be read refuses nothing. */
export class ReturnRoom {
  readonly #sharing: Sharing
  readonly #places: Places | undefined
  readonly #neighbours: Neighbours
  readonly #volumes: LocalVolumes
  readonly #why: string | undefined

  constructor(reader: Reader, sharing: Sharing, places: { found?: Places; why?: string }) {
    this.#sharing = sharing
    this.#places = places.found
    this.#why = places.why
    this.#neighbours = new Neighbours(reader)
    this.#volumes = new LocalVolumes(reader)
  }

  /** Why no node would take it; undefined: one would, as far as that may be read. Throws ApiError but 403. */
  async refusal(vmi: VirtualMachineInstance): Promise<string | undefined> {
    const places = this.#places
    if (places === undefined) return undefined
    const demand = startDemandOf(vmi, this.#sharing, places)
    const asked = { ...demand, volumes: await this.#volumes.of(vmi) }
    const move = { from: vmi.status?.nodeName, again: true, uid: vmi.metadata.uid ?? '' }
    const found = await placeFor(asked, { places, neighbours: this.#neighbours }, move)
    return 'node' in found ? undefined : `no node would take it again: ${refusalsText(found.refusals)}`
  }

  /** What is not judged, and why. */
  get remarks(): readonly string[] {
    return [
      ...unjudged('whether a node takes a VM again', this.#why),
      ...unjudged('the room that is left on nodes', this.#places?.unread),
      ...unjudged('affinity to pods', this.#neighbours.unread),
      ...unjudged('on which nodes volumes can be used', this.#volumes.unread),
    ]
  }
}

const unjudged = (what: string, why: string | undefined): readonly string[] =>
  why === undefined ? [] : [`${what} is not known: ${why}`]

/** Nodes are read now, pods and volumes where they are needed. Throws ApiError but 403 and 404. */
export async function readReturnRoom(reader: Reader, kubevirt: KubeVirt | undefined): Promise<ReturnRoom> {
  const read = await known(readPlaces(reader).then((places) => [places]))
  const [found] = read.known ? read.items : []
  const places = { ...(found && { found }), ...(!read.known && { why: read.why }) }
  return new ReturnRoom(reader, sharingOf(kubevirt), places)
}
