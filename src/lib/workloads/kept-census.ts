import { createHash } from 'node:crypto'
import type { Cluster, Reader, Writer } from '../cluster/cluster.ts'
import { type ConfigMap, ConfigMaps } from '../cluster/kinds/core.ts'
import { isConflict, isNotFound } from '../system/errors.ts'
import type { Packed } from './census-text.ts'

/** What a census in the cluster says of itself. Anybody who may write ConfigMaps there can write it: it is evidence, and leads to words alone. */
export interface CensusOrigin {
  /** Of the run that took it: `upgrade to v1.8.4`. */
  procedure: string
  /** Of those that took it up when that one was cut off. */
  takenUpBy?: readonly string[]
  /** Uid of the KubeVirt. */
  kubevirt: string
  /** RFC 3339. */
  at: string
  /** user@host. */
  by: string
  /** Changes had begun already when it was taken: what ran before them nobody knows. */
  late: boolean
}

/** `incomplete`: a part is missing or another one, as when the run that wrote it was killed over it. */
export type KeptCensus =
  | { is: 'none' }
  | { is: 'incomplete'; origin: CensusOrigin | undefined }
  | { is: 'whole'; origin: CensusOrigin; packed: Packed }

/** The ConfigMaps, in KubeVirt's namespace. Fixed names, for a right can be given to a name and not to a beginning of one. */
export const censusNames = [1, 2, 3, 4].map((part) => `kvup-census-${part}`)
const [headName = ''] = censusNames

/** Under the 1 MiB that a ConfigMap may hold. */
const partBytes = 900_000

/** What one cluster has room for: VMs by name up to some 30,000. */
export const mostCensusBytes = partBytes * censusNames.length

const labels = { 'app.kubernetes.io/managed-by': 'kvup', 'kvup.io/census': 'true' }

interface Head extends CensusOrigin {
  parts: number
  sha256: string
}

/** Every procedure that it is of. */
export const proceduresOf = ({ procedure, takenUpBy = [] }: CensusOrigin): readonly string[] => [
  procedure,
  ...takenUpBy,
]

/** Throws ApiError. */
export async function findCensus(reader: Reader, namespace: string): Promise<KeptCensus> {
  const found = await reader.find(ConfigMaps, { name: headName, namespace })
  if (found.is !== 'object') return { is: 'none' }
  const head = headOf(found.object)
  if (head === undefined) return { is: 'incomplete', origin: undefined }
  const { parts, sha256, ...origin } = head
  const pieces = [pieceOf(found.object, sha256)]
  for (const name of censusNames.slice(1, parts)) {
    const more = await reader.find(ConfigMaps, { name, namespace })
    pieces.push(more.is === 'object' ? pieceOf(more.object, sha256) : undefined)
  }
  const packed = Buffer.concat(pieces.flatMap((piece) => piece ?? []))
  return digest(packed) === sha256 ? { is: 'whole', origin, packed } : { is: 'incomplete', origin }
}

/**
 * Writes it, in place of whatever another run has left there. The first part names the others: it is written first and deleted
 * last, so that nothing is ever left that it does not lead to. Safe to repeat. Throws ApiError.
 */
export async function keepCensus(
  { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
  namespace: string,
  { origin, packed }: { origin: CensusOrigin; packed: Packed },
): Promise<void> {
  await dropCensus({ reader, writer }, namespace)
  const parts = Math.max(1, Math.ceil(packed.length / partBytes))
  const sha256 = digest(packed)
  for (const [index, name] of censusNames.slice(0, parts).entries()) {
    const piece = packed.subarray(index * partBytes, (index + 1) * partBytes)
    const head: Head = { ...origin, parts, sha256 }
    const data = { sha256, ...(index === 0 && { run: JSON.stringify(head) }) }
    await create(
      { reader, writer },
      {
        apiVersion: ConfigMaps.apiVersion,
        kind: ConfigMaps.kind,
        metadata: { name, namespace, labels },
        data,
        binaryData: { census: piece.toString('base64') },
        immutable: true,
      },
    )
  }
}

/** Deletes the parts that are there, each by the uid that was read. Throws ApiError. */
export async function dropCensus(
  { reader, writer }: { reader: Reader; writer: Pick<Writer, 'delete'> },
  namespace: string,
): Promise<void> {
  const found = await reader.find(ConfigMaps, { name: headName, namespace })
  if (found.is !== 'object') return
  // What it says of its parts may be anybody's word.
  const parts = headOf(found.object)?.parts ?? censusNames.length
  for (const name of censusNames.slice(1, parts).toReversed()) {
    const more = await reader.find(ConfigMaps, { name, namespace })
    if (more.is === 'object') await remove(writer, more.object)
  }
  await remove(writer, found.object)
}

/** Whoever deleted it before, or made another one meanwhile, is welcome. */
async function remove(writer: Pick<Writer, 'delete'>, { metadata }: ConfigMap): Promise<void> {
  const { name, namespace, uid } = metadata
  try {
    await writer.delete(ConfigMaps, { name, namespace }, { uid })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

/** One of that name that is there without a first part that leads to it is a stranger's, or our own write whose answer was lost. */
async function create(
  { reader, writer }: Pick<Cluster, 'reader' | 'writer'>,
  part: ConfigMap,
): Promise<void> {
  try {
    await writer.create(ConfigMaps, part)
  } catch (error) {
    if (!isConflict(error)) throw error
    const { name, namespace } = part.metadata
    const there = await reader.find(ConfigMaps, { name, namespace })
    if (there.is === 'object') await remove(writer, there.object)
    await writer.create(ConfigMaps, part)
  }
}

function pieceOf({ data, binaryData }: ConfigMap, sha256: string): Buffer | undefined {
  const text = binaryData?.['census']
  return data?.['sha256'] === sha256 && text !== undefined ? Buffer.from(text, 'base64') : undefined
}

function headOf({ data }: ConfigMap): Head | undefined {
  const run = parsed(data?.['run'] ?? '')
  if (typeof run !== 'object' || run === null) return undefined
  const { procedure, takenUpBy, kubevirt, at, by, late, parts, sha256 } = run as Partial<
    Record<keyof Head, unknown>
  >
  const texts = [procedure, kubevirt, at, by, sha256]
  if (!texts.every((text) => typeof text === 'string') || Number.isNaN(Date.parse(String(at))))
    return undefined
  if (typeof parts !== 'number' || parts < 1 || parts > censusNames.length) return undefined
  // Only what is known: whoever takes it up writes it again.
  return {
    procedure: String(procedure),
    takenUpBy: Array.isArray(takenUpBy) ? takenUpBy.map(String) : [],
    kubevirt: String(kubevirt),
    at: String(at),
    by: String(by),
    late: late === true,
    parts,
    sha256: String(sha256),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
