/**
 * What the seal of a document is laid over: all that is carried out, and all that a person decides by. Commands are not among it, for they are printed
 * with the connection flags of whoever prints them.
 */
export function coveredBy(document: Readonly<Record<string, unknown>>): Covered {
  return {
    ...picked(document, [...readAndDone, ...ofWindow]),
    findings: records(document['findings']).map((finding) => picked(finding, ['id', 'level', 'summary'])),
    steps: records(document['steps']).map((step) => picked(step, ofStep)),
  }
}

const readAndDone = 'kubevirt from to method holds said accepted request manifest'.split(' ')
/** Of a plan of an EUS window. */
const ofWindow =
  'flavour way began channel hops pools healthChecks operator hyperconverged methods notes'.split(' ')
const ofStep = ['id', 'title', 'state', 'change', 'changes', 'keeps']

function picked(from: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, from[key]]))
}

export interface Covered {
  readonly steps: readonly Readonly<Record<string, unknown>>[]
  readonly [part: string]: unknown
}

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) =>
    typeof one === 'object' && one !== null ? (one as Readonly<Record<string, unknown>>) : {},
  )
}
