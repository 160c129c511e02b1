import { spanText } from '../../kube/duration.ts'
import { type ChangedField, changedField, restores } from './changed-field.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf, timeOf } from './fields.ts'
import { type Bar, type BarTone, type Lane, lane, spanned, type Timeline, titleOf } from './lanes.ts'

/** Beyond this many phrases about nodes and pods each step has one lane for all of them. */
const lanesForNodes = 40

interface Heard {
  id: string
  name: string
  /** The stage. */
  part: string | undefined
  from: number
  to: number | undefined
  tone: BarTone
  text: string
}

/** What `-o ndjson` told of a run: all of it has its time. */
export function ofEvents(events: readonly Fields[]): Timeline {
  const times = events.map(({ at }) => timeOf(at)).filter((time) => time !== undefined)
  const [begins = 0, ends = 0] = [times[0], times.at(-1)]
  const steps = heardSteps(events, ends)
  const lanes = [
    ...stageLanes(events, ends),
    ...steps.map(({ name, from, to = ends, tone, text }) => lane('Steps', name, [{ from, to, tone, text }])),
    ...phraseLanes(events, ends),
    ...changeLanes(events, ends),
    ...vmWaits(events, ends),
    ...remarkLanes(events),
  ]
  return { begins, ends, isRelative: false, lanes }
}

/** What is known of steps beforehand, by their ids, in their order. */
type Planned = ReadonlyMap<string, { part: string | undefined; estimate: number | undefined }>

const plannedOf = (events: readonly Fields[]): Planned =>
  new Map(
    events
      .flatMap(({ steps }) => listOf(steps))
      .map((step) => [idOf(step), { part: textOf(step['part']), estimate: numberOf(step['estimate']) }]),
  )

/** Titles repeat themselves: each minor has its control plane nodes. */
const idOf = (step: Fields): string => textOf(step['id']) ?? titleOf(step)

function heardSteps(events: readonly Fields[], ends: number): readonly Heard[] {
  const planned = plannedOf(events)
  const steps: Heard[] = []
  let before: string | undefined
  for (const event of events) {
    const at = timeOf(event['at']) ?? ends
    const step = fieldsOf(event['step'])
    const [id, name] = [idOf(step), titleOf(step)]
    const last = steps.findLast((one) => one.id === id && one.to === undefined)
    if (event['event'] === 'step-started') {
      if (planned.has(id)) before = id
      const part = planned.get(id)?.part ?? textOf(step['part']) ?? partAfter(planned, before)
      steps.push({ id, name, part, from: at, to: undefined, tone: 'bad', text: `${name}: did not end` })
    }
    if (event['event'] === 'step-done' && last) {
      const note = textOf(event['note'])
      last.to = at
      last.tone = event['changed'] === true ? 'running' : 'good'
      last.text = `${spanned(name, at - last.from)}${note === undefined ? '' : ` (${note})`}`
    }
  }
  return steps
}

/** A step that came up during the run is done on behalf of the planned one that comes next. */
function partAfter(planned: Planned, before: string | undefined): string | undefined {
  const ids = [...planned.keys()]
  const next = ids[before === undefined ? 0 : ids.indexOf(before) + 1]
  return next === undefined ? undefined : planned.get(next)?.part
}

interface HeardStage {
  name: string
  from: number
  /** Absent where it did not end. */
  to?: number
  /** In ms; absent where this run did not do all of it, and where nothing was estimated. */
  estimate?: number
}

/** Stages in the order in which they began. */
export function stagesOf(events: readonly Fields[]): readonly HeardStage[] {
  const ends = timeOf(events.at(-1)?.['at']) ?? 0
  const planned = plannedOf(events)
  const list = events.findLast(({ steps }) => listOf(steps).length > 0)?.['steps']
  const due = new Set(listOf(list).map(idOf))
  const heard = heardSteps(events, ends)
  const started = new Set(heard.map(({ id }) => id))
  const over = events.filter(({ event }) => event === 'step-done').map(({ step }) => idOf(fieldsOf(step)))
  /** An earlier run did them. */
  const early = new Set(over.filter((id) => !started.has(id)))
  const stages = Map.groupBy(heard, ({ part }) => part)
  return [...stages].flatMap(([name, own]): readonly HeardStage[] => {
    if (name === undefined) return []
    const from = Math.min(...own.map((step) => step.from))
    if (own.some(({ to }) => to === undefined)) return [{ name, from }]
    const to = Math.max(...own.map((step) => step.to ?? ends))
    const done = new Set(own.map(({ id }) => id))
    const ids = [...planned.keys()].filter((id) => planned.get(id)?.part === name)
    const isWhole = !ids.some((id) => early.has(id)) && done.has(ids.findLast((id) => due.has(id)) ?? '')
    const estimate = ids
      .filter((id) => due.has(id) || done.has(id))
      .reduce((sum, id) => sum + (planned.get(id)?.estimate ?? 0), 0)
    return [{ name, from, to, ...(isWhole && estimate > 0 && { estimate }) }]
  })
}

const stageLanes = (events: readonly Fields[], ends: number): readonly Lane[] =>
  stagesOf(events).map(({ name, from, to }) => {
    const text = to === undefined ? `${name}: did not end` : spanned(name, to - from)
    return lane('Stages', name, [{ from, to: to ?? ends, tone: to === undefined ? 'bad' : 'good', text }])
  })

/** What went on while a step waited, a lane for each phrase: `worker-2 restarting`. Of very many one lane for each step. */
function phraseLanes(events: readonly Fields[], ends: number): readonly Lane[] {
  const heard = events.flatMap((event, index) =>
    heardPhrase(event, timeOf(events[index + 1]?.['at']) ?? ends),
  )
  const lanesOf = (by: 'phrase' | 'step') =>
    [...Map.groupBy(heard, (one) => one[by])].map(([name, own]) => lane('Nodes and pods', name, joined(own)))
  const each = lanesOf('phrase')
  return each.length <= lanesForNodes ? each : lanesOf('step')
}

/** Steps that wait for VMs say how many are left: a lane for each of these steps. */
function vmWaits(events: readonly Fields[], ends: number): readonly Lane[] {
  const heard = events.flatMap((event, index): readonly HeardPhrase[] => {
    const from = timeOf(event['at'])
    const { on, now, is, progress } = fieldsOf(event['state'])
    const text = textOf(on)
    const isOfVms = fieldsOf(progress)['of'] === 'VMs' || /\bVMs? to move\b/u.test(text ?? '')
    if (event['event'] !== 'step-waiting' || from === undefined || now !== undefined) return []
    if (text === undefined || !isOfVms) return []
    const step = titleOf(fieldsOf(event['step']))
    const tone = is === 'stalled' ? 'bad' : 'running'
    return [{ from, to: timeOf(events[index + 1]?.['at']) ?? ends, tone, text, phrase: text, step }]
  })
  return [...Map.groupBy(heard, ({ step }) => step)].map(([name, own]) => lane('VMs', name, joined(own)))
}

/** What was told on the way: a migration that failed, a rule that stops the run. */
function remarkLanes(events: readonly Fields[]): readonly Lane[] {
  const moments = events.flatMap((event): readonly Bar[] => {
    const [at, text] = [timeOf(event['at']), textOf(event['text'])]
    if (event['event'] !== 'remark' || at === undefined || text === undefined) return []
    return [{ from: at, to: at, tone: 'warn', text }]
  })
  return moments.length === 0 ? [] : [lane('Remarks', 'remarks', moments)]
}

interface HeardPhrase extends Bar {
  phrase: string
  step: string
}

function heardPhrase(event: Fields, to: number): readonly HeardPhrase[] {
  const from = timeOf(event['at'])
  const { now, is, trouble, why } = fieldsOf(event['state'])
  const phrase = textOf(now)?.split(', ')[0]
  if (event['event'] !== 'step-waiting' || from === undefined || phrase === undefined) return []
  if (phrase.startsWith('stable for')) return []
  const bad = is === 'stalled' ? textOf(why) : textOf(trouble)
  const tone = is === 'stalled' ? 'bad' : bad === undefined ? 'dim' : 'warn'
  const step = titleOf(fieldsOf(event['step']))
  return [{ from, to, tone, text: bad === undefined ? phrase : `${phrase}: ${bad}`, phrase, step }]
}

/** What was heard again and again is one bar. */
function joined(heard: readonly HeardPhrase[]): readonly Bar[] {
  const bars: Bar[] = []
  for (const { from, to, text, tone } of heard) {
    const last = bars.at(-1)
    if (last?.text === text && last.to === from) last.to = to
    else bars.push({ from, to, text, tone })
  }
  return bars
}

function isBackOf(text: string, change: ChangedField): boolean {
  const back = changedField(text)
  return back !== undefined && restores(back, change)
}

/** Changes as they were made; a setting that one step changes and another sets back is changed in between. */
function changeLanes(events: readonly Fields[], ends: number): readonly Lane[] {
  const applied = events.flatMap((event) => {
    const at = timeOf(event['at'])
    const id = textOf(fieldsOf(event['step'])['id']) ?? ''
    const text = textOf(event['change']) ?? id
    return event['event'] === 'step-applied' && at !== undefined ? [{ at, id, text }] : []
  })
  const paused = applied.flatMap(({ at, id, text }) => {
    const change = changedField(text)
    if (change === undefined || change.isBack) return []
    const back = applied.find((one) => one.at > at && isBackOf(one.text, change))
    if (back === undefined && !change.isSaved && !id.startsWith('pause-')) return []
    const of = change.object === undefined ? '' : ` of ${change.object}`
    const name = `${change.field.slice(change.field.lastIndexOf('.') + 1)}${of}`
    const to = back?.at ?? ends
    const how = back === undefined ? 'not restored in this run' : `restored after ${spanText(to - at)}`
    return [lane('Temporary changes', name, [{ from: at, to, tone: 'warn', text: `${name}: ${how}` }])]
  })
  const moments = applied.map(({ at, text }): Bar => ({ from: at, to: at, tone: 'running', text }))
  return [lane('Changes', 'changes', moments), ...paused]
}
