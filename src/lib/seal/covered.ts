/**
 * What the seal of a document is laid over: all that is carried out, and all that a person decides by. Commands are not among it, for they are printed
 * with the connection flags of whoever prints them.
 */
export function coveredBy(document: Readonly<Record<string, unknown>>): Covered {
  return {
    ...picked(document, [...readAndDone, ...ofWindow]),
    ...(isRecord(document['path']) && { path: pathOf(document['path']) }),
    findings: records(document['findings']).map((finding) => picked(finding, ['id', 'level', 'summary'])),
    steps: records(document['steps']).map((step) => picked(step, ofStep)),
  }
}

/** Of a plan over several minors. */
function pathOf(path: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return {
    ...picked(path, ['between', 'ends']),
    steps: records(path['steps']).map(pathStepOf),
  }
}

const pathStepOf = (step: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...picked(step, ['from', 'to', 'method', 'manifest', 'kubernetes', 'vms']),
  findings: records(step['findings']).map((finding) => picked(finding, ['id', 'level', 'summary'])),
})

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

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return []
  return value.map((one: unknown) =>
    typeof one === 'object' && one !== null ? (one as Readonly<Record<string, unknown>>) : {},
  )
}
