import { spanText } from '../../kube/duration.ts'
import { ofEvents } from './event-timeline.ts'
import {
  type Fields,
  fieldsOf,
  laterEntries,
  listOf,
  numberOf,
  placedName,
  textOf,
  textsOf,
  timeOf,
  type ReportSource,
} from './fields.ts'
import {
  type Bar,
  type BarTone,
  type Curve,
  type Lane,
  lane,
  spanned,
  stairs,
  type Timeline,
  titleOf,
} from './lanes.ts'
import { becameText, measuredEvents } from './vm-table.ts'

/** VMs beyond this many are drawn as a curve. */
const lanesForVms = 40

/** Undefined where the document tells of no times. */
export function timelineOf({ document, events }: ReportSource): Timeline | undefined {
  const drawn = placed(events.length > 0 ? ofEvents(events) : ofDocument(document), document)
  const isRelative = drawn?.isRelative ?? false
  const begins = drawn?.begins ?? Infinity
  const measured = isRelative ? [] : [...measuredVmLanes(document), ...availabilityLanes(document)]
  const lanes = [...(drawn?.lanes ?? []), ...measured].filter(
    ({ bars, curve }) => bars.length > 0 || curve !== undefined,
  )
  const bars = lanes.flatMap((one) => one.bars)
  if (bars.length === 0) return undefined
  const from = bars.reduce((least, bar) => Math.min(least, bar.from), begins)
  const to = bars.reduce((most, bar) => Math.max(most, bar.to), drawn?.ends ?? 0)
  const note = drawn?.note === undefined ? {} : { note: drawn.note }
  return { begins: from, ends: Math.max(to, from + 1000), isRelative, lanes, ...note }
}

/** A run that was measured has times even without its events: its steps follow on when its first look was taken. */
function placed(drawn: Timeline | undefined, document: Fields): Timeline | undefined {
  const measured = timeOf(fieldsOf(document['availability'])['begin'])
  if (drawn === undefined || !drawn.isRelative || measured === undefined) return drawn
  if (!textOf(document['kind'])?.endsWith('Report')) return drawn
  const { at, resumed } = fieldsOf(document['comparedWith'])
  const start = Math.max(measured, (resumed === true ? undefined : timeOf(at)) ?? measured)
  const lanes = drawn.lanes.map((one) => ({
    ...one,
    bars: one.bars.map((bar) => ({ ...bar, from: bar.from + start, to: bar.to + start })),
  }))
  return { ...drawn, begins: measured, ends: measured, isRelative: false, lanes }
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

function ofSteps(document: Fields): Timeline {
  const parts = listOf(document['steps']).map((step) => ({
    name: titleOf(step),
    ms: (numberOf(step['seconds']) ?? 0) * 1000,
    tone: step['changed'] === true ? ('running' as const) : ('good' as const),
    note: textOf(step['note']) ?? '',
  }))
  return relative(
    endToEnd(parts).map((bar, index) => lane('Steps', parts[index]?.name ?? '', [bar])),
    'Steps are drawn one after the other by their lengths. The events of a run (-o ndjson) have the times.',
  )
}

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
    if (high > 0) lanes.push(lane('Steps', name, estimated(name, at, { low, high })))
    at += high
  }
  const overrides = listOf(document['steps']).flatMap((step) =>
    listOf(step['overrides']).map((override): Lane => {
      const name = textOf(override['override']) ?? 'setting'
      const back = begins.get(textOf(override['restoredBy']) ?? '')
      const from = begins.get(textOf(step['id']) ?? '') ?? 0
      const text =
        back === undefined ? `${name}: not restored at the end` : `${name}: changed, restored at the end`
      return lane('Temporary changes', name, [{ from, to: back ?? at, tone: 'warn', text }])
    }),
  )
  return relative(
    [...lanes, ...overrides],
    'An estimate, with each step as long as it may take; the part in the stronger color is the least. Steps of unknown duration are left out.',
  )
}

/** The least of it, and what may come on top; a part that is nothing is no bar. */
function estimated(name: string, from: number, { low, high }: { low: number; high: number }): readonly Bar[] {
  const bars: readonly Bar[] = [
    { from, to: from + low, tone: 'running', text: `${name}: at least ${spanText(low)}` },
    { from: from + low, to: from + high, tone: 'dim', text: `${name}: at most ${spanText(high)}` },
  ]
  return bars.filter((bar) => bar.to > bar.from)
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
    return [lane('Stages', name, estimated(name, from, { low, high }))]
  })
  return relative(
    lanes,
    'An estimate, with each step as long as it may take; the part in the stronger color is the least.',
  )
}

function ofRehearsal(document: Fields): Timeline {
  const ends = (numberOf(document['upgradeSeconds']) ?? 0) * 1000
  const stages = listOf(document['stages']).map((stage) => {
    const [from, takes] = [numberOf(stage['begins']) ?? 0, numberOf(stage['takes'])]
    const name = textOf(stage['name']) ?? ''
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

const vmTones: ReadonlyMap<string, BarTone> = new Map([
  ['updated', 'good'],
  ['outdated', 'warn'],
  ['stopped', 'bad'],
])

function vmLanes(vms: readonly Fields[]): readonly Lane[] {
  const bars = vms
    .flatMap((vm): readonly (Bar & { name: string })[] => {
      const [from, to] = [numberOf(vm['begins']), numberOf(vm['ends'])]
      if (from === undefined || to === undefined) return []
      const name = placedName(vm)
      const becomes = textOf(vm['becomes']) ?? ''
      const tries = textOf(vm['tries']) ?? ''
      const text = `${name}: KubeVirt tries to ${tries}, ${becameText(vm) ?? ''} after ${spanText((to - from) * 1000)}`
      return [{ name, from: from * 1000, to: to * 1000, tone: vmTones.get(becomes) ?? 'dim', text }]
    })
    .toSorted((a, b) => a.from - b.from || a.to - b.to)
  if (bars.length === 0) return []
  return bars.length <= lanesForVms ? stairs('VMs', bars) : [crowd(bars, 'VMs', 'are tried')]
}

/** How many at a time, in one lane. */
function crowd(bars: readonly Bar[], of: string, done: string): Lane {
  const [first, last] = [
    bars.reduce((least, { from }) => Math.min(least, from), Infinity),
    bars.reduce((most, { to }) => Math.max(most, to), 0),
  ]
  const text = `${bars.length} ${of} ${done} in ${spanText(last - first)}`
  return {
    ...lane('VMs', `${bars.length} ${of} at a time`, [{ from: first, to: last, tone: 'dim', text }]),
    curve: curveOf(bars),
  }
}

/** Of a run that was measured: what became of its VMs, a lane for each, as far as KubeVirt told when. */
function measuredVmLanes(document: Fields): readonly Lane[] {
  const { end, vms } = fieldsOf(document['availability'])
  const bars = measuredEvents(fieldsOf(vms)).flatMap(
    ({ of, what, from, to, isOver, tone, why }): readonly (Bar & { name: string })[] => {
      const name = textOf(of['vm'])
      const until = to ?? (isOver ? from : timeOf(end))
      if (name === undefined || from === undefined || until === undefined) return []
      const because = why === undefined ? '' : `: ${why}`
      return [{ name, from, to: Math.max(from, until), tone, text: `${name}: ${what}${because}` }]
    },
  )
  const [moved, others] = [
    bars.filter(({ tone }) => tone === 'good'),
    bars.filter(({ tone }) => tone !== 'good'),
  ]
  const names = new Set(bars.map(({ name }) => name))
  if (names.size <= lanesForVms)
    return [...Map.groupBy(bars, ({ name }) => name)].map(([name, own]) => lane('VMs', name, own))
  return [
    ...(moved.length > 0 ? [crowd(moved, 'migrations', 'ended')] : []),
    ...[...Map.groupBy(others, ({ name }) => name)]
      .slice(0, lanesForVms)
      .map(([name, own]) => lane('VMs', name, own)),
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
  const later = laterEntries(items, 'applied', 'failed')
  return items.flatMap((item) => {
    const from = timeOf(item['at'])
    if (item['what'] !== 'intends' || from === undefined) return []
    const step = textOf(item['step']) ?? ''
    const became = later.get(item)
    const to = timeOf(became?.['at']) ?? end
    const tone = became === undefined ? 'warn' : became['what'] === 'failed' ? 'bad' : 'running'
    const open = became === undefined ? ' (not known whether it was done)' : ''
    return [lane('Changes', step, [{ from, to, tone, text: `${textOf(item['text']) ?? step}${open}` }])]
  })
}

function journalOverrides(items: readonly Fields[], end: number): readonly Lane[] {
  const later = laterEntries(items, 'restored', 'closed')
  return items.flatMap((item) => {
    const from = timeOf(item['at'])
    if (item['what'] !== 'saved' || from === undefined) return []
    const name = textOf(item['step']) ?? ''
    const closed = later.get(item)
    const to = timeOf(closed?.['at']) ?? end
    const how =
      closed === undefined
        ? 'not restored in this run'
        : `${String(closed['what'])} after ${spanText(to - from)}`
    return [lane('Temporary changes', name, [{ from, to, tone: 'warn', text: `${name}: ${how}` }])]
  })
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
    const steps = textsOf(outage['steps']).join(', ')
    const during = steps === '' ? '' : ` during ${steps}`
    const meanwhile = rolling === '' ? during : ` while ${rolling} rolled`
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
