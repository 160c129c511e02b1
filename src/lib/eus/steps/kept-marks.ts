import { createHash } from 'node:crypto'
import { isFields } from '../../cluster/apply/field-path.ts'
import type { Journal, JournalReader } from '../../procedure/journal.ts'

/** Name → a short mark of what is compared later; enough to say that it is another one, in some 30 bytes each. */
export type Marks = Readonly<Record<string, string>>

export function markOf(text: string, length: number): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, length)
}

/** As many as the journal has room for, beside other things to keep. */
export async function keepMarks(journal: Journal, key: string, marks: Marks, most: number): Promise<void> {
  await journal.keep(key, Object.fromEntries(Object.entries(marks).slice(0, most)))
}

export async function keptMarks(journal: JournalReader, key: string): Promise<Marks | undefined> {
  const found = await journal.kept(key)
  if (!isFields(found)) return undefined
  return Object.fromEntries(Object.entries(found).map(([name, mark]) => [name, String(mark)]))
}

/** The names that bear another mark now, and those that are gone. What came since is not among them. */
export interface Changed {
  changed: readonly string[]
  gone: readonly string[]
}

export function changedMarks(before: Marks, after: Marks): Changed {
  const names = Object.keys(before)
  return {
    changed: names.filter((name) => after[name] !== undefined && after[name] !== before[name]),
    gone: names.filter((name) => after[name] === undefined),
  }
}
