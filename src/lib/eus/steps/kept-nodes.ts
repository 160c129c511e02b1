import type { Reader } from '../../cluster/cluster.ts'
import { type Node, Nodes } from '../../cluster/kinds/core.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'
import { type Changed, changedMarks, keepMarks, keptMarks, markOf, type Marks } from './kept-marks.ts'

/** The journal has room for some 2000, and other things to keep. */
const mostNodes = 1000

const key = (name: string): string => `${name}/nodes`

/** Of each node its labels and taints. */
export async function keepNodes(journal: Journal, name: string, reader: Reader): Promise<void> {
  await keepMarks(journal, key(name), await marksOf(reader), mostNodes)
}

export const keptNodes = (journal: JournalReader, name: string): Promise<Marks | undefined> =>
  keptMarks(journal, key(name))

/** As they were when the window was opened, or as they are now where nothing was kept yet. */
export async function nodesBefore(
  { reader, journal }: { reader: Reader; journal: JournalReader },
  name: string,
): Promise<Marks> {
  return (await keptNodes(journal, name)) ?? marksOf(reader)
}

/** Nodes whose labels or taints are not what they were, and those that are gone (night E11). */
export async function changedNodes(reader: Reader, before: Marks): Promise<Changed> {
  return changedMarks(before, await marksOf(reader))
}

async function marksOf(reader: Reader): Promise<Marks> {
  const marks: Record<string, string> = {}
  for await (const { items } of reader.pages(Nodes))
    for (const node of items) marks[node.metadata.name] = markOf(textOf(node), 16)
  return marks
}

/** What a drain puts on a node and takes away again says nothing. */
const passing = /^node\.kubernetes\.io\//u

function textOf({ metadata: { labels = {} }, spec }: Node): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  const taints = (spec?.taints ?? [])
    .filter(({ key: taint }) => !passing.test(taint))
    .map(({ key: taint, value = '', effect }) => `${taint}=${value}:${effect}`)
  return JSON.stringify([pairs.toSorted(), taints.toSorted()])
}
