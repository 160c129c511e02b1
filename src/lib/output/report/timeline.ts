import { spanText } from '../../kube/duration.ts'
import { type ChangedField, changedField, restores } from './changed-field.ts'
import { type Fields, fieldsOf, listOf, numberOf, placedName, textOf, textsOf, timeOf } from './fields.ts'
import type { ReportSource } from './report-source.ts'

export type BarTone = 'good' | 'bad' | 'warn' | 'dim' | 'running'

/** A span on the axis, in ms. Where it is nothing but a moment, both ends are the same. */
export interface Bar {
  from: number
  to: number
  text: string
  tone: BarTone
}

/** How many VMs are on their way at a time: where there are too many for a lane each. */
export type Curve = readonly (readonly [at: number, value: number])[]

export interface Lane {
  group:
    | 'Stages'
    | 'Steps'
    | 'Nodes and pods'
    | 'Changes'
    | 'Temporary changes'
    | 'VMs'
    | 'Alerts'
    | 'Availability'
  name: string
  bars: readonly Bar[]
  curve?: Curve
}

/** What happened when, or would. Times are ms since the epoch, or since the first step where `isRelative`. */
export interface Timeline {
  begins: number
  ends: number
  isRelative: boolean
  lanes: readonly Lane[]
  /** What has to be known to read it. */
  note?: string
}

/** VMs beyond this many are drawn as a curve. */
const lanesForVms = 40
/** Beyond this many phrases about nodes and pods each step has one lane for all of them. */
const lanesForNodes = 40

/** Undefined where the document tells of no times. Runs in the browser too. */
export function timelineOf({ document, events }: ReportSource): Timeline | undefined {
  const drawn = events.length > 0 ? ofEvents(events) : ofDocument(document)
  const isRelative = drawn?.isRelative ?? false
  const begins = drawn?.begins ?? Infinity
  const lanes = [...(drawn?.lanes ?? []), ...(isRelative ? [] : availabilityLanes(document))].filter(
    ({ bars, curve }) => bars.length > 0 || curve !== undefined,
  )
  const bars = lanes.flatMap((lane) => lane.bars)
  if (bars.length === 0) return undefined
  const from = bars.reduce((least, bar) => Math.min(least, bar.from), begins)
  const to = bars.reduce((most, bar) => Math.max(most, bar.to), drawn?.ends ?? 0)
  const note = drawn?.note === undefined ? {} : { note: drawn.note }
  return { begins: from, ends: Math.max(to, from + 1000), isRelative, lanes, ...note }
}

function ofDocument(document: ReportSource['document']): Timeline | undefined {
  if (document.kind === 'Rehearsal') return ofRehearsal(document)
  if (document.kind === 'History') return ofJournal(document)
  if (document.kind === 'UpgradePlan') return ofPlan(document)
  if (document.kind === 'EusPlan') return ofHops(document)
  return document.kind === 'UpgradeReport' || document.kind === 'EusReport' ? ofSteps(document) : undefined
}

const relative = (lanes: readonly Lane[], note?: string): Timeline => ({
  begins: 0,
  ends: 0,
  isRelative: true,
  lanes,
  ...(note !== undefined && { note }),
})

/** `virt-handler: 18 s` */
const spanned = (name: string, ms: number): string => `${name}: ${spanText(ms)}`

/** Each begins where the one before it ended. */
function endToEnd(
  parts: readonly { name: string; ms: number; tone: BarTone; note?: string }[],
): readonly Bar[] {
  let at = 0
  return parts.map(({ name, ms, tone, note }) => {
    const bar = { from: at, to: at + ms, tone, text: `${spanned(name, ms)}${note ? ` (${note})` : ''}` }
    at += ms
    return bar
  })
}

const lane = (group: Lane['group'], name: string, bars: readonly Bar[]): Lane => ({ group, name, bars })

/** A lane for each, as on stairs. */
const stairs = (group: Lane['group'], bars: readonly (Bar & { name: string })[]): readonly Lane[] =>
  bars.map(({ name, ...bar }) => lane(group, name, [bar]))

function ofSteps(document: Fields): Timeline {
  const parts = listOf(document['steps']).map((step) => ({
    name: titleOf(step),
    ms: (numberOf(step['seconds']) ?? 0) * 1000,
    tone: step['changed'] === true ? ('running' as const) : ('good' as const),
    note: textOf(step['note']) ?? '',
  }))
  const bars = endToEnd(parts)
  return relative(
    stairs(
      'Steps',
      bars.map((bar, index) => ({ ...bar, name: parts[index]?.name ?? '' })),
    ),
    'Steps are drawn one after the other by their lengths. The events of a run (-o ndjson) have the times.',
  )
}

const titleOf = (step: Fields): string => textOf(step['title']) ?? textOf(step['id']) ?? ''

function ofPlan(document: Fields): Timeline {
  let at = 0
  const lanes: Lane[] = []
  const begins = new Map<string, number>()
  for (const step of listOf(document['steps'])) {
    const { lowSeconds, highSeconds } = fieldsOf(step['time'])
    const [low, high] = [numberOf(lowSeconds) ?? 0, numberOf(highSeconds) ?? 0].map((s) => s * 1000) as [
      number,
      number,
    ]
    const name = titleOf(step)
    begins.set(textOf(step['id']) ?? '', at)
    if (high > 0)
      lanes.push(
        lane('Steps', name, [
          { from: at, to: at + low, tone: 'running', text: `${name}: at least ${spanText(low)}` },
          { from: at + low, to: at + high, tone: 'dim', text: `${name}: at most ${spanText(high)}` },
        ]),
      )
    at += high
  }
  const overrides = listOf(document['steps']).flatMap((step) =>
    listOf(step['overrides']).map((override): Lane => {
      const name = textOf(override['override']) ?? 'setting'
      const back = begins.get(textOf(override['restoredBy']) ?? '')
      const from = begins.get(textOf(step['id']) ?? '') ?? 0
      const text = back === undefined ? `${name}: stays changed` : `${name}: changed, restored at the end`
      return lane('Temporary changes', name, [{ from, to: back ?? at, tone: 'warn', text }])
    }),
  )
  return relative(
    [...lanes, ...overrides],
    'An estimate, with each step as long as it may take; its darker part is the least. Steps of unknown duration are left out.',
  )
}

function ofHops(document: Fields): Timeline {
  let at = 0
  const lanes = listOf(document['hops']).flatMap((hop) => {
    const { lowSeconds, highSeconds } = fieldsOf(hop['time'])
    const [low, high] = [(numberOf(lowSeconds) ?? 0) * 1000, (numberOf(highSeconds) ?? 0) * 1000] as const
    const name = `to ${textOf(hop['minor']) ?? 'the next minor'}`
    const from = at
    at += high
    if (high === 0) return []
    return [
      lane('Stages', name, [
        { from, to: from + low, tone: 'running', text: `${name}: at least ${spanText(low)}` },
        { from: from + low, to: from + high, tone: 'dim', text: `${name}: at most ${spanText(high)}` },
      ]),
    ]
  })
  return relative(lanes, 'An estimate, with each step as long as it may take; its darker part is the least.')
}

function ofRehearsal(document: Fields): Timeline {
  const ends = (numberOf(document['upgradeSeconds']) ?? 0) * 1000
  const stages = listOf(document['stages']).map((stage) => {
    const [from, takes] = [numberOf(stage['begins']) ?? 0, numberOf(stage['takes'])]
    const hop = textOf(stage['hop'])
    const name = `${hop === undefined ? '' : `${hop} `}${textOf(stage['name']) ?? ''}`
    const to = takes === undefined ? Math.max(ends, from * 1000) : (from + takes) * 1000
    const text = takes === undefined ? `${name}: does not end` : spanned(name, takes * 1000)
    return {
      name,
      from: from * 1000,
      to,
      tone: takes === undefined ? ('bad' as const) : ('good' as const),
      text,
    }
  })
  return relative([...stairs('Stages', stages), ...vmLanes(listOf(document['vms']))])
}

const vmTones: Readonly<Record<string, BarTone>> = { updated: 'good', outdated: 'warn', stopped: 'bad' }

function vmLanes(vms: readonly Fields[]): readonly Lane[] {
  const bars = vms
    .flatMap((vm): readonly (Bar & { name: string })[] => {
      const [from, to] = [numberOf(vm['begins']), numberOf(vm['ends'])]
      if (from === undefined || to === undefined) return []
      const name = placedName(vm)
      const becomes = textOf(vm['becomes']) ?? ''
      const tries = textOf(vm['tries']) ?? ''
      const text = `${name}: KubeVirt tries to ${tries}, ${becomes} after ${spanText((to - from) * 1000)}`
      return [{ name, from: from * 1000, to: to * 1000, tone: vmTones[becomes] ?? 'dim', text }]
    })
    .toSorted((a, b) => a.from - b.from || a.to - b.to)
  if (bars.length === 0) return []
  if (bars.length <= lanesForVms) return stairs('VMs', bars)
  const [first, last] = [bars[0]?.from ?? 0, bars.reduce((most, { to }) => Math.max(most, to), 0)]
  const text = `${bars.length} VMs are tried in ${spanText(last - first)}`
  return [
    {
      ...lane('VMs', `${bars.length} VMs at a time`, [{ from: first, to: last, tone: 'dim', text }]),
      curve: curveOf(bars),
    },
  ]
}

/** At most so many points. */
const mostPoints = 600

/** How many of the bars there are at a time. */
function curveOf(bars: readonly Bar[]): Curve {
  const steps = bars
    .flatMap(
      ({ from, to }) =>
        [
          [from, 1],
          [to, -1],
        ] as const,
    )
    .toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
  const points: [number, number][] = []
  let value = 0
  for (const [at, by] of steps) {
    value += by
    if (points.at(-1)?.[0] === at) points.splice(-1, 1, [at, value])
    else points.push([at, value])
  }
  const every = Math.ceil(points.length / mostPoints)
  return points.filter((_, index) => index % every === 0 || index === points.length - 1)
}

/** What the journal tells: changes, and what was changed for a time. */
function ofJournal(document: Fields): Timeline {
  const [run] = listOf(document['runs'])
  const items = listOf(document['items'])
  const times = items.map(({ at }) => timeOf(at)).filter((time) => time !== undefined)
  const [first, last] = [timeOf(run?.['started']) ?? times[0], timeOf(run?.['ended']) ?? times.at(-1)]
  const end = last ?? first ?? 0
  return {
    begins: first ?? 0,
    ends: end,
    isRelative: false,
    lanes: [...journalChanges(items, end), ...journalOverrides(items, end)],
    note: 'The journal tells what kvup changed, not how long components rolled. The events of a run (-o ndjson) have both.',
  }
}

function journalChanges(items: readonly Fields[], end: number): readonly Lane[] {
  return items.flatMap((item, index) => {
    const from = timeOf(item['at'])
    if (item['what'] !== 'intends' || from === undefined) return []
    const step = textOf(item['step']) ?? ''
    const became = items
      .slice(index + 1)
      .find((one) => one['step'] === item['step'] && ['applied', 'failed'].includes(String(one['what'])))
    const to = timeOf(became?.['at']) ?? end
    const tone = became === undefined ? 'warn' : became['what'] === 'failed' ? 'bad' : 'running'
    const open = became === undefined ? ' (not known whether it was done)' : ''
    return [lane('Changes', step, [{ from, to, tone, text: `${textOf(item['text']) ?? step}${open}` }])]
  })
}

function journalOverrides(items: readonly Fields[], end: number): readonly Lane[] {
  return items.flatMap((item, index) => {
    const from = timeOf(item['at'])
    if (item['what'] !== 'saved' || from === undefined) return []
    const name = textOf(item['step']) ?? ''
    const closed = items
      .slice(index + 1)
      .find((one) => one['step'] === item['step'] && ['restored', 'closed'].includes(String(one['what'])))
    const to = timeOf(closed?.['at']) ?? end
    const how =
      closed === undefined
        ? 'not restored in this run'
        : `${String(closed['what'])} after ${spanText(to - from)}`
    return [lane('Temporary changes', name, [{ from, to, tone: 'warn', text: `${name}: ${how}` }])]
  })
}

interface Heard {
  name: string
  part?: string | undefined
  from: number
  to: number | undefined
  tone: BarTone
  text: string
}

/** What `-o ndjson` told of a run: all of it has its time. */
function ofEvents(events: readonly Fields[]): Timeline {
  const times = events.map(({ at }) => timeOf(at)).filter((time) => time !== undefined)
  const [begins = 0, ends = 0] = [times[0], times.at(-1)]
  const parts = partsOf(events)
  const steps = heardSteps(events, ends).map((step) => ({ ...step, part: parts.get(step.name) ?? step.part }))
  const lanes = [
    ...stageLanes(steps, ends),
    ...stairs(
      'Steps',
      steps.map(({ part: _, to, ...step }) => ({ ...step, to: to ?? ends })),
    ),
    ...phraseLanes(events, ends),
    ...changeLanes(events, ends),
  ]
  return { begins, ends, isRelative: false, lanes }
}

/** The stage of each step, by its title. */
const partsOf = (events: readonly Fields[]): ReadonlyMap<string, string> =>
  new Map(
    events
      .flatMap(({ steps }) => listOf(steps))
      .flatMap((step) => {
        const part = textOf(step['part'])
        return part === undefined ? [] : [[titleOf(step), part] as const]
      }),
  )

function heardSteps(events: readonly Fields[], ends: number): readonly Heard[] {
  const steps: Heard[] = []
  for (const event of events) {
    const at = timeOf(event['at']) ?? ends
    const step = fieldsOf(event['step'])
    const name = titleOf(step)
    const last = steps.findLast((one) => one.name === name && one.to === undefined)
    if (event['event'] === 'step-started')
      steps.push({
        name,
        part: textOf(step['part']),
        from: at,
        to: undefined,
        tone: 'bad',
        text: `${name}: did not end`,
      })
    if (event['event'] === 'step-done' && last) {
      const note = textOf(event['note'])
      last.to = at
      last.tone = event['changed'] === true ? 'running' : 'good'
      last.text = `${spanned(name, at - last.from)}${note === undefined ? '' : ` (${note})`}`
    }
  }
  return steps
}

function stageLanes(steps: readonly Heard[], ends: number): readonly Lane[] {
  const stages = Map.groupBy(
    steps.filter(({ part }) => part !== undefined),
    ({ part }) => part ?? '',
  )
  return [...stages].map(([name, own]) => {
    const from = Math.min(...own.map((step) => step.from))
    const isOpen = own.some(({ to }) => to === undefined)
    const to = Math.max(...own.map((step) => step.to ?? ends))
    const text = isOpen ? `${name}: did not end` : spanned(name, to - from)
    return lane('Stages', name, [{ from, to, tone: isOpen ? 'bad' : 'good', text }])
  })
}

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

/** Of a run that was measured: a lane for each probe, all of it good but for its outages. A journal keeps those of the API in one. */
function availabilityLanes(document: Fields): readonly Lane[] {
  const [run] = listOf(document['runs'])
  const kept = fieldsOf(run?.['availability'])
  const { begin, end, probes } = fieldsOf(document['availability'] ?? kept)
  const measured = { from: timeOf(begin), to: timeOf(end) }
  if (probes === undefined) return outageLanes('API', listOf(kept['outages']), measured)
  return listOf(probes).flatMap((probe) =>
    outageLanes(textOf(probe['probe']) ?? 'probe', listOf(probe['outages']), measured),
  )
}

interface Measured {
  from: number | undefined
  to: number | undefined
}

function outageLanes(name: string, outages: readonly Fields[], { from, to }: Measured): readonly Lane[] {
  if (from === undefined || to === undefined) return []
  const gaps = outages.flatMap((outage): readonly Bar[] => {
    const start = timeOf(outage['begin'])
    if (start === undefined) return []
    // It lasted until the measurement ended.
    const until = timeOf(outage['end']) ?? to
    const rolling = textsOf(outage['rolling']).join(', ')
    const meanwhile = rolling === '' ? '' : ` while ${rolling} rolled`
    return [
      {
        from: start,
        to: until,
        tone: 'bad',
        text: `${name}: no answer for ${spanText(until - start)}${meanwhile}`,
      },
    ]
  })
  const whole: Bar = { from, to, tone: 'good', text: `${name}: measured for ${spanText(to - from)}` }
  return [lane('Availability', name, [whole, ...gaps])]
}
