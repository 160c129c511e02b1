import { compareVersions, versionOf } from '../../releases/version.ts'
import type { EntryShape } from './shape.ts'

/**
 * What the resolver takes after `installed` from a channel's entries: the one nearest to the head that replaces it, skips it or
 * has it in its skipRange (ocp 2.6). Undefined where nothing leads on.
 */
export function nextEntry<T extends EntryShape>(entries: readonly T[], installed: EntryShape): T | undefined {
  return fromHead(entries).find((entry) => entry.name !== installed.name && leadsOn(entry, installed))
}

/** The entry that nothing replaces or skips. Undefined for an empty channel, or for one whose edges go round. */
export function headOf<T extends EntryShape>(entries: readonly T[]): T | undefined {
  const passed = new Set(entries.flatMap(({ replaces, skips = [] }) => [replaces, ...skips]))
  return entries.find(({ name }) => !passed.has(name))
}

/** The chain of `replaces` from the head on; what it leaves out comes last. */
function fromHead<T extends EntryShape>(entries: readonly T[]): T[] {
  const chain: T[] = []
  for (let entry = headOf(entries); entry !== undefined && !chain.includes(entry);) {
    chain.push(entry)
    const { replaces } = entry
    entry = entries.find(({ name }) => name === replaces)
  }
  return [...chain, ...entries.filter((entry) => !chain.includes(entry))]
}

function leadsOn({ replaces, skips = [], skipRange }: EntryShape, { name, version }: EntryShape): boolean {
  return replaces === name || skips.includes(name) || (skipRange !== undefined && isIn(skipRange, version))
}

const part = /^(?<sign>[<>]?=?)(?<than>\d.*)$/

/** A range as `olm.skipRange` has it: `>=4.17.0 <4.18.0`, alternatives behind `||`. What cannot be read has nothing in it. */
function isIn(range: string, version: string): boolean {
  return range.split('||').some((all) => {
    const parts = all.trim().split(/\s+/u)
    return parts.every((one) => holds(one, version))
  })
}

function holds(one: string, text: string): boolean {
  const { sign = '', than = '' } = part.exec(one)?.groups ?? {}
  const version = versionOf(text)
  const other = versionOf(than)
  if (version === undefined || other === undefined) return false
  const order = compareVersions(version, other)
  if (order === 0) return sign === '' || sign.endsWith('=')
  return order < 0 ? sign.startsWith('<') : sign.startsWith('>')
}
