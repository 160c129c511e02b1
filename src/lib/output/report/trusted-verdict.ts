import type { Verdict } from '../formats/verdicts.ts'
import { count } from '../text.ts'
import { checkWords, outcomes as outcomesOfCluster, stateWords } from '../views/fleet-words.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf } from './fields.ts'

/** A document that somebody hands in, and that says of itself which it is. */
type Given = Fields & { kind: string }

type Holds = (value: unknown) => boolean

const text: Holds = (value) => typeof value === 'string'
const flag: Holds = (value) => typeof value === 'boolean'
/** Also of seconds: none is negative, or without an end. */
const number: Holds = (value) => (numberOf(value) ?? -1) >= 0
const list =
  (each: Holds): Holds =>
  (value) =>
    Array.isArray(value) && value.every(each)
const optional =
  (holds: Holds): Holds =>
  (value) =>
    value === undefined || holds(value)
const shape =
  (fields: Readonly<Record<string, Holds>>): Holds =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([key, holds]) => holds(fieldsOf(value)[key]))

const anyOf =
  (words: readonly string[]): Holds =>
  (value) =>
    typeof value === 'string' && words.includes(value)
const keyOf = (words: object): Holds => anyOf(Object.keys(words))

const path = { from: optional(text), to: text }
const stopped = optional(shape({ step: text, because: text }))
const found = list(shape({ id: text, level: text }))
const risks = list(shape({ id: text }))
const time = optional(shape({ lowSeconds: number, highSeconds: number }))
const steps = list(shape({ title: text, refused: optional(shape({ message: text })) }))
const lost = optional(list(shape({})))
const tries = optional(shape({ migrate: number, evict: number, 'evict-refused': number, nothing: number }))
const waves = shape({
  outcome: text,
  items: list(shape({})),
  stoppedBefore: stopped,
  shortfall: optional(text),
})

/** What a verdict is made of, as kvup writes it. Of other kinds it is read as it comes. */
const shapes: Readonly<Record<string, Holds>> = {
  CheckReport: shape({
    outcome: text,
    to: optional(text),
    counts: shape({ blockers: number, notChecked: number, warnings: number }),
    items: list(shape({ findings: found })),
  }),
  UpgradePlan: shape({
    ...path,
    operator: optional(shape(path)),
    pending: flag,
    steps,
    findings: found,
    accepted: risks,
    time,
  }),
  EusPlan: shape({ ...path, pending: flag, steps, findings: found, accepted: risks, time }),
  UpgradeReport: shape({
    ...path,
    outcome: text,
    operator: optional(shape(path)),
    degraded: optional(list(text)),
    tookSeconds: optional(number),
    stoppedBefore: stopped,
    changes: lost,
    workloads: optional(shape({})),
    next: optional(list(text)),
  }),
  EusReport: shape({
    ...path,
    outcome: text,
    seconds: optional(number),
    stoppedBefore: stopped,
    changes: lost,
  }),
  WorkloadsUpdate: waves,
  VmRestarts: waves,
  Rehearsal: shape({
    outcome: text,
    code: optional(number),
    product: optional(text),
    from: text,
    to: text,
    upgradeSeconds: optional(number),
    vmUpdateSeconds: optional(number),
    tries,
    stages: optional(list(shape({}))),
  }),
  FleetReport: shape({
    to: text,
    items: list(shape({ name: text, outcome: anyOf(outcomesOfCluster), error: optional(shape({})) })),
  }),
  FleetPlan: shape({
    to: text,
    waves: list(shape({ clusters: list(text) })),
    clusters: list(shape({ name: text, error: optional(shape({})) })),
    seal: optional(shape({ by: text })),
  }),
  FleetCheck: shape({
    to: optional(text),
    items: list(shape({ name: text, state: keyOf(checkWords), findings: found })),
  }),
  FleetStatus: shape({ items: list(shape({ name: text, state: keyOf(stateWords) })) }),
  History: shape({
    runs: list(
      shape({
        run: number,
        procedure: text,
        result: text,
        from: optional(text),
        to: optional(text),
        tookMs: optional(number),
        reason: optional(text),
        step: optional(text),
      }),
    ),
  }),
}

/** What its verdict is made of is there, and of the types that kvup writes. */
export const isReadable = (document: Given): boolean => shapes[document.kind]?.(document) ?? true

/** How a document ends where nothing failed. One of another kind has no outcome then. */
const outcomes: Readonly<Record<string, readonly string[]>> = {
  CheckReport: ['passed', 'blocked'],
  UpgradeReport: ['done', 'nothing-to-do', 'stopped-before'],
  EusReport: ['done', 'nothing-to-do', 'stopped-before', 'aborted', 'restored', 'dry-run'],
  WorkloadsUpdate: ['done', 'incomplete', 'stopped', 'nothing-to-do', 'dry-run'],
  VmRestarts: ['done', 'incomplete', 'stopped', 'nothing-to-do', 'dry-run'],
  Rehearsal: ['through', 'stalls', 'degraded', 'timed-out', 'stops', 'blocked'],
}

/** What a failure comes to, in words. */
const failures: ReadonlyMap<string, string> = new Map([
  ['blocked', 'Blocked'],
  ['stalled', 'Stalled'],
  ['timed-out', 'Timed out'],
  ['interrupted', 'Interrupted'],
  ['failed', 'Failed'],
])

/** `Blocked: 2 blockers …`; a message that begins with the word has said it. */
export function withOutcome(message: string, { outcome }: Fields): string {
  const word = failures.get(textOf(outcome) ?? '') ?? 'Failed'
  if (!message.toLowerCase().startsWith(word.toLowerCase())) return `${word}: ${message}`
  return message.charAt(0).toUpperCase() + message.slice(1)
}

/**
 * A verdict is made of some fields of a document. Where others speak against one that is not bad it is not passed on: whoever reads the page sees nothing else of it, and files are
 * edited, cut, and written by other versions.
 */
export function trustedVerdict(document: Given, verdict: Verdict): Verdict {
  if (verdict.is === 'bad') return verdict
  const { outcome, error, kind } = document
  if (hasFailed(document)) {
    const [message = ''] = textOf(fieldsOf(error)['message'])?.split('\n') ?? []
    return { is: 'bad', text: withOutcome(message === '' ? verdict.text : message, document) }
  }
  const isKnown = outcomes[kind]?.includes(textOf(outcome) ?? '') ?? outcome === undefined
  if (!isKnown) {
    const said = typeof outcome === 'string' ? ` ${JSON.stringify(outcome)}` : ''
    return { is: 'warning', text: `This document has no verdict: its outcome${said} is not known.` }
  }
  const against = contradictionIn(document)
  return against === undefined ? verdict : { is: 'bad', text: `This document contradicts itself: ${against}` }
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null

const hasFailed = ({ outcome, error, status, code, kind }: Given): boolean =>
  kind === 'Error' ||
  status === 'failed' ||
  isThere(error) ||
  (isThere(code) && code !== 0) ||
  failures.has(textOf(outcome) ?? '')

function contradictionIn(document: Given): string | undefined {
  if (document.kind === 'CheckReport') return inCheck(document)
  if (document.kind === 'UpgradePlan' || document.kind === 'EusPlan') return inPlan(document)
  if (document.kind === 'Rehearsal') return inPlayed(document)
  if (document.kind === 'WorkloadsUpdate' || document.kind === 'VmRestarts') return inWaves(document)
  return inFleet(document)
}

/** Of the first cluster of a fleet whose fields do not agree. */
function inFleet({ kind, ...document }: Given): string | undefined {
  const against = inCluster[kind]
  if (against === undefined) return undefined
  const all = listOf(document[kind === 'FleetPlan' ? 'clusters' : 'items'])
  if (all.length === 0) return 'it is of a fleet without clusters'
  const [first] = all.flatMap((one) => {
    const why = against(one, document)
    return why === undefined ? [] : [`${textOf(one['name'])} ${why}`]
  })
  return first
}

const inCluster: Readonly<Record<string, (one: Fields, document: Fields) => string | undefined>> = {
  FleetReport: ({ outcome, error }) =>
    (outcome === 'done' || outcome === 'nothing-to-do') && isThere(error)
      ? `is ${outcome === 'done' ? 'done' : 'as it should be'}, and has an error`
      : undefined,
  FleetPlan: ({ name, plan }, document) =>
    isThere(fieldsOf(plan)['seal'])
      ? listOf(document['waves']).some(({ clusters }) => listedIn(clusters, name))
        ? undefined
        : 'is in no wave'
      : 'has no sealed plan',
  FleetCheck({ state, error, blockers, notChecked, findings }) {
    if (state !== 'Passed') return undefined
    if (isThere(error)) return 'passed, and has an error'
    const listed = listOf(findings).filter(({ level }) => level === 'blocker' || level === 'not-checked')
    const most = Math.max(listed.length, (numberOf(blockers) ?? 0) + (numberOf(notChecked) ?? 0))
    return most === 0 ? undefined : `passed, with ${count(most, 'finding')} that block`
  },
  FleetStatus: ({ state, error }) =>
    state === 'Healthy' && isThere(error) ? 'is healthy, and has an error' : undefined,
}

const listedIn = (clusters: unknown, name: unknown): boolean =>
  Array.isArray(clusters) && clusters.includes(name)

function inCheck({ counts, items }: Fields): string | undefined {
  // A check that was not made is counted as that, whatever its finding weighs.
  const made = listOf(items).filter(({ is }) => is !== 'not-checked')
  const open = unaccepted(listOf(items))
  const listed = (level: string) => open.filter((finding) => finding['level'] === level).length
  const counted = (key: string) => numberOf(fieldsOf(counts)[key]) ?? 0
  const blockers = Math.max(listed('blocker'), counted('blockers'))
  if (blockers > 0) return `it passed, with ${count(blockers, 'blocker')}`
  if (listed('not-checked') > 0) return `it passed, with ${count(listed('not-checked'), 'check')} not made`
  const warnings = unaccepted(made).filter(({ level }) => level === 'warning').length
  return warnings === counted('warnings')
    ? undefined
    : `it counts ${count(counted('warnings'), 'warning')}, and lists ${count(warnings, 'warning')}`
}

const unaccepted = (checks: readonly Fields[]): readonly Fields[] =>
  checks
    .flatMap(({ findings }) => listOf(findings))
    .filter(({ accepted }) => accepted === undefined || accepted === false)

function inPlan({ pending, steps: planned, findings, accepted }: Fields): string | undefined {
  const taken = new Set(listOf(accepted).map(({ id }) => id))
  const blockers = listOf(findings).filter(({ id, level }) => level === 'blocker' && !taken.has(id)).length
  const due = listOf(planned).filter(({ state }) => state !== 'already-so').length
  if (pending === true) return due > 0 ? undefined : 'it has something to do, and no step for it'
  if (blockers > 0) return `it has nothing to do, and ${count(blockers, 'blocker')}`
  return due === 0 ? undefined : `it has nothing to do, and ${count(due, 'step')} for it`
}

function inPlayed({ outcome, code, why }: Fields): string | undefined {
  if (outcome !== 'through') return undefined
  if ((numberOf(code) ?? 0) !== 0) return `it goes through, with exit code ${String(code)}`
  return !isThere(why) ? undefined : 'it goes through, and says why it does not'
}

function inWaves({ items, totals, outcome }: Fields): string | undefined {
  const listed = listOf(items).filter((item) => item['outcome'] === 'failed').length
  const failed = Math.max(listed, numberOf(fieldsOf(totals)['failed']) ?? 0)
  return failed === 0
    ? undefined
    : `its outcome is ${String(textOf(outcome))}, and ${count(failed, 'VM')} failed`
}
