/** A field that was set, as a sentence of the journal or of an event tells it. */
export interface ChangedField {
  field: string
  /** Absent where the sentence does not say. */
  object?: string
  /** Absent where it is not said. */
  was?: string
  is: string
  /** It was changed for a time before, and gets its old value. */
  isBack: boolean
  /** The old value is kept, to be restored. */
  isSaved: boolean
}

const object = String.raw`(?<object>(?:\S+ )?\S+(?: in namespace \S+)?)`
/** `set imageTag of kubevirts/kubevirt in namespace kubevirt from v1.7.4 to v1.8.4, and save the value` */
const fromTo = new RegExp(String.raw`^set (?<field>\S+) of ${object} from (?<values>.+)$`, 'u')
/** `set spec.paused of MachineConfigPool gpu: true; it was false` */
const itWas = new RegExp(String.raw`^set (?<field>\S+) of ${object}: (?<values>.+)$`, 'u')
/** `set workloadUpdateMethods back to LiveMigrate` */
const backTo = new RegExp(String.raw`^set (?<field>\S+)(?: of ${object})? back to (?<values>.+)$`, 'u')

/** Names are no longer; values are. */
const longestHead = 2000
const save = ', and save the value'

/** Undefined for a sentence that tells of no field. Takes a time in proportion to its length. Runs in the browser too. */
export function changedField(text: string): ChangedField | undefined {
  // Only its head is read by expressions: what somebody wrote into a value could make one of them try every way to split it.
  const head = text.slice(0, longestHead)
  const tail = text.slice(longestHead)
  if (!head.startsWith('set ') || text.includes('\n')) return undefined
  const back = backTo.exec(head)?.groups
  if (back !== undefined) return fieldOf(back, { is: `${back['values']}${tail}`, isBack: true })
  const set = fromTo.exec(head)?.groups
  const whole = `${set?.['values']}${tail}`
  const isSaved = whole.endsWith(save)
  const pair = set && splitAt(isSaved ? whole.slice(0, -save.length) : whole, ' to ')
  if (pair) return fieldOf(set, { was: pair[0], is: pair[1], isSaved })
  const other = itWas.exec(head)?.groups
  const values = other && splitAt(`${other['values']}${tail}`, '; it was ')
  return values && fieldOf(other, { is: values[0], was: values[1] })
}

/** Undefined where one of the two sides were empty. */
function splitAt(text: string, by: string): readonly [string, string] | undefined {
  const at = text.indexOf(by, 1)
  const after = text.slice(at + by.length)
  return at < 0 || after === '' ? undefined : [text.slice(0, at), after]
}

const fieldOf = (
  { field = '', object: of }: Readonly<Record<string, string>>,
  values: Pick<ChangedField, 'is'> & Partial<ChangedField>,
): ChangedField => ({
  field,
  ...(of !== undefined && { object: of }),
  isBack: false,
  isSaved: false,
  ...values,
})

/** What was changed and what sets it back find each other by these: a sentence that sets back may not say whose field it was. */
const keyOf = ({ field, object: of }: Pick<ChangedField, 'field' | 'object'>): string =>
  JSON.stringify([field, of])

/** Changes one after the other, each of which may set back one before it. */
export class ChangesSoFar {
  readonly #last = new Map<string, ChangedField>()

  /** Takes it as made, and gives the one that it sets back. */
  add(change: ChangedField): ChangedField | undefined {
    if (change.isBack) return this.#last.get(keyOf(change))
    this.#last.set(keyOf(change), change).set(keyOf({ field: change.field }), change)
    return undefined
  }
}

/** Sentences that set something back, with their times, in the order of these. */
export class Restored {
  readonly #times = new Map<string, number[]>()

  constructor(changes: readonly { at: number; change: ChangedField | undefined }[]) {
    for (const { at, change } of changes.toSorted((a, b) => a.at - b.at)) {
      if (change?.isBack !== true) continue
      const times = this.#times.get(keyOf(change))
      if (times === undefined) this.#times.set(keyOf(change), [at])
      else times.push(at)
    }
  }

  /** When this was first set back after that time. */
  after(at: number, { field, object: of }: ChangedField): number | undefined {
    const found = [keyOf({ field }), keyOf({ field, ...(of !== undefined && { object: of }) })].flatMap(
      (key) => firstAfter(this.#times.get(key) ?? [], at) ?? [],
    )
    return found.length === 0 ? undefined : Math.min(...found)
  }
}

function firstAfter(times: readonly number[], at: number): number | undefined {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] ?? Infinity) > at) high = middle
    else low = middle + 1
  }
  return times[low]
}

/** As a diff: of whose field, and the lines with a sign. */
export const fieldDiff = ({ field, object: of, was, is }: ChangedField): readonly string[] => [
  ...(of === undefined ? [] : [`  ${of}`]),
  ...(was === undefined ? [] : [`- ${field}: ${was}`]),
  `+ ${field}: ${is}`,
]
