/** `1 node is`, `3 nodes are`: how many, and the verb that goes with it. */
export function counted(count: number, noun: string, verb?: readonly [one: string, many: string]): string {
  const words = `${count} ${count === 1 ? noun : `${noun}s`}`
  return verb ? `${words} ${count === 1 ? verb[0] : verb[1]}` : words
}

/** `a, b, c and 4 more`: a finding names a few, its objects are the rest. */
export function someOf(names: readonly string[], count: number = names.length, most = 3): string {
  const shown = names.slice(0, most)
  const rest = count - shown.length
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}

/** Its lines as one, without the blanks around their ends. In a time that grows with the text alone, for some are a megabyte of blanks. */
export function onSingleLine(text: string): string {
  if (!text.includes('\n')) return text
  const [first = '', ...more] = text.split('\n')
  const last = more.pop() ?? ''
  const between = more.map((line) => line.trim()).filter((line) => line !== '')
  return [first.trimEnd(), ...between, last.trimStart()].join(' ')
}

const head = 80
const tail = 600

/** Long texts keep their beginning and their end, and no half of a word where a blank is near: virt-operator prints a whole object first, the cause is at the end (lab 13). */
export function shorten(text: string): string {
  if (text.length <= head + tail + 40) return text
  const begin = text.slice(0, head).replace(/\s\S{0,40}$/u, '')
  return `${begin} […] ${text.slice(-tail).replace(/^\S{0,40}\s/u, '')}`
}

/** The word that was most likely meant: at most a third of its letters differ. Undefined where none is near. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((word) => ({ word, far: distance(typed, word) }))
    .filter(({ word, far }) => far <= Math.ceil(word.length / 3))
    .toSorted((a, b) => a.far - b.far)
  return ranked[0]?.word
}

/** Letters to insert, take out or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, letter] of from.split('').entries()) {
    const next = [i + 1]
    for (const [j, other] of to.split('').entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/** A value of the API on one line: `LiveMigrate, Evict`, `10`, and `none` for an empty list and for nothing. */
export function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ') || 'none'
  if (value === null || value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** For how long it does no harm to leave an override open, in words: `harmless for days`, `not harmless while it is refused`. */
export function harmlessText(harmless: string): string {
  const not = /^not at all(?<rest>.*)$/su.exec(harmless)
  return not === null ? `harmless ${harmless}` : `not harmless${not.groups?.['rest'] ?? ''}`
}

/** Steps that follow one another and are of one part are one stage, such as a step of an EUS upgrade with its gate, request and nodes. */
export function inStages<S extends { part?: string }>(steps: readonly S[]): readonly (readonly S[])[] {
  const stages: S[][] = []
  for (const step of steps) {
    const last = stages.at(-1)
    if (last && step.part !== undefined && last[0]?.part === step.part) last.push(step)
    else stages.push([step])
  }
  return stages
}
