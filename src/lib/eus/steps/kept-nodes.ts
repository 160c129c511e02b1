import { createHash } from 'node:crypto'
import { isFields } from '../../cluster/apply/field-path.ts'
import type { Reader } from '../../cluster/cluster.ts'
import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'

/** Name → a short mark of its labels and taints; enough to say that they are other ones, in some 30 bytes a node. */
type Marks = Readonly<Record<string, string>>

/** The journal has room for some 2000, and other things to keep. */
const mostNodes = 1000

const key = (name: string): string => `${name}/nodes`

export async function keepNodes(journal: Journal, name: string, reader: Reader): Promise<void> {
  const marks = Object.entries(await marksOf(reader))
  await journal.keep(key(name), Object.fromEntries(marks.slice(0, mostNodes)))
}

export async function keptNodes(journal: JournalReader, name: string): Promise<Marks | undefined> {
  const found = await journal.kept(key(name))
  if (!isFields(found)) return undefined
  return Object.fromEntries(Object.entries(found).map(([node, mark]) => [node, String(mark)]))
}

/** As they were when the window was opened, or as they are now where nothing was kept yet. */
export async function nodesBefore(
  { reader, journal }: { reader: Reader; journal: JournalReader },
  name: string,
): Promise<Marks> {
  return (await keptNodes(journal, name)) ?? marksOf(reader)
}

/** Nodes whose labels or taints are not what they were, and those that are gone (night E11). */
export async function changedNodes(
  reader: Reader,
  before: Marks,
): Promise<{ changed: readonly string[]; gone: readonly string[] }> {
  const after = await marksOf(reader)
  const names = Object.keys(before)
  return {
    changed: names.filter((node) => after[node] !== undefined && after[node] !== before[node]),
    gone: names.filter((node) => after[node] === undefined),
  }
}

async function marksOf(reader: Reader): Promise<Marks> {
  const marks: Record<string, string> = {}
  for await (const { items } of reader.pages(Nodes))
    for (const node of items) marks[node.metadata.name] = markOf(node)
  return marks
}

/** What a drain puts on a node and takes away again says nothing. */
const passing = /^node\.kubernetes\.io\//u

function markOf({ metadata: { labels = {} }, spec }: Node): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  const taints = (spec?.taints ?? [])
    .filter(({ key: taint }) => !passing.test(taint))
    .map(({ key: taint, value = '', effect }) => `${taint}=${value}:${effect}`)
  const text = JSON.stringify([pairs.toSorted(), taints.toSorted()])
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}
