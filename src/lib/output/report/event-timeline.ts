import { spanText } from '../../kube/duration.ts'
import { type Fields, fieldsOf, listOf, textOf, timeOf } from './fields.ts'
import { type Bar, type BarTone, type Lane, lane, spanned, type Timeline, titleOf } from './lanes.ts'

/** Beyond this many phrases about nodes and pods each step has one lane for all of them. */
const lanesForNodes = 40

/** Of a step that begins again and again without an end only so many are kept to be ended. */
const mostOpen = 9

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
    ...stageLanes(steps, ends),
    ...steps.map(({ name, from, to = ends, tone, text }) => lane('Steps', name, [{ from, to, tone, text }])),
    ...phraseLanes(events, ends),
    ...changeLanes(events, ends),
    ...vmWaits(events, ends),
    ...remarkLanes(events),
  ]
  return { begins, ends, isRelative: false, lanes }
}

/** The stages of steps, by their ids, in their order. */
type Planned = ReadonlyMap<string, string | undefined>

const plannedOf = (events: readonly Fields[]): Planned =>
  new Map(events.flatMap(({ steps }) => listOf(steps)).map((step) => [idOf(step), textOf(step['part'])]))

/** Titles repeat themselves: each minor has its control plane nodes. */
const idOf = (step: Fields): string => textOf(step['id']) ?? titleOf(step)

function heardSteps(events: readonly Fields[], ends: number): readonly Heard[] {
  const planned = plannedOf(events)
  const steps: Heard[] = []
  /** Those that did not end yet; one that began again is done as often. */
  const open = new Map<string, Heard[]>()
  const nextParts = partsAfter(planned)
  let before: string | undefined
  for (const event of events) {
    const at = timeOf(event['at']) ?? ends
    const step = fieldsOf(event['step'])
    const [id, name] = [idOf(step), titleOf(step)]
    if (event['event'] === 'step-started') {
      if (planned.has(id)) before = id
      const part = planned.get(id) ?? textOf(step['part']) ?? nextParts.get(before)
      const begun: Heard = {
        id,
        name,
        part,
        from: at,
        to: undefined,
        tone: 'bad',
        text: `${name}: did not end`,
      }
      steps.push(begun)
      open.set(id, [...(open.get(id) ?? []).slice(-mostOpen), begun])
    }
    const last = event['event'] === 'step-done' ? open.get(id)?.pop() : undefined
    if (last) {
      const note = textOf(event['note'])
      last.to = at
      last.tone = event['changed'] === true ? 'running' : 'good'
      last.text = `${spanned(name, at - last.from)}${note === undefined ? '' : ` (${note})`}`
    }
  }
  return steps
}

/** By the planned step that began last: one that came up during the run is done on behalf of the planned one that comes next. */
function partsAfter(planned: Planned): ReadonlyMap<string | undefined, string | undefined> {
  const ids = [undefined, ...planned.keys()]
  return new Map(ids.map((id, index) => [id, planned.get(ids[index + 1] ?? '')]))
}

/** Stages in the order in which they began. */
const stageLanes = (steps: readonly Heard[], ends: number): readonly Lane[] =>
  [...Map.groupBy(steps, ({ part }) => part)].flatMap(([name, own]) => {
    if (name === undefined) return []
    const from = own.reduce((least, step) => Math.min(least, step.from), Infinity)
    const to = own.reduce((most, step) => Math.max(most, step.to ?? Infinity), -Infinity)
    return to === Infinity
      ? [lane('Stages', name, [{ from, to: ends, tone: 'bad', text: `${name}: did not end` }])]
      : [lane('Stages', name, [{ from, to, tone: 'good', text: spanned(name, to - from) }])]
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

/** What is paused and what resumes it have ids that end alike: `pause-worker`, `unpause-worker`. */
const paused = /^pause-(?:health-check-)?/u
const resumed = /^(?:unpause|resume|restore-(?:machine|node)-health-check)-/u

/** Changes as they were made; what one step pauses and another resumes is paused in between. */
function changeLanes(events: readonly Fields[], ends: number): readonly Lane[] {
  const applied = events.flatMap((event) => {
    const [at, step] = [timeOf(event['at']), fieldsOf(event['step'])]
    if (event['event'] !== 'step-applied' || at === undefined) return []
    return [{ at, id: idOf(step), title: titleOf(step), text: textOf(event['change']) ?? idOf(step) }]
  })
  const back = Map.groupBy(
    applied.filter(({ id }) => resumed.test(id)),
    ({ id }) => id.replace(resumed, ''),
  )
  const pauses = applied
    .filter(({ id }) => paused.test(id))
    .map(({ id, at, title }) => {
      const to = back.get(id.replace(paused, ''))?.find((one) => one.at > at)?.at
      const how = to === undefined ? 'not restored in this run' : `restored after ${spanText(to - at)}`
      const text = `${title}: ${how}`
      return lane('Temporary changes', title, [{ from: at, to: to ?? ends, tone: 'warn', text }])
    })
  const moments = applied.map(({ at, text }): Bar => ({ from: at, to: at, tone: 'running', text }))
  return [lane('Changes', 'changes', moments), ...pauses]
}
