import type { LayerVerdict, TitledLayer } from '../../facts/layers/layer.ts'
import type { Layers } from '../../facts/layers/layers.ts'
import { ageAt } from '../age.ts'
import type { Paint, Tone } from '../printer.ts'
import { brief } from '../brief.ts'
import type { Entry } from './entry.ts'

type Shown = Partial<Layers> & { takenAt: string }

/** The verdict over all, and a line per layer; of those that are not settled what they wait for. Nothing on a plain cluster. */
export function layerLines(shown: Shown, paint: Paint, how: Pick<Look, 'entry' | 'wide'>): string[] {
  const { overall, layers, takenAt } = shown
  if (!overall || !layers) return []
  return [headline(shown, paint), ...layers.flatMap((layer) => linesOf(layer, { takenAt, paint, ...how }))]
}

const tones: Record<LayerVerdict, Tone> = {
  Settled: 'good',
  Updating: 'strong',
  Waiting: 'warn',
  Stalled: 'bad',
  Degraded: 'bad',
  Unknown: 'dim',
}

const marks: Record<LayerVerdict, keyof Paint['mark']> = {
  Settled: 'done',
  Updating: 'running',
  Waiting: 'warning',
  Stalled: 'failed',
  Degraded: 'failed',
  Unknown: 'dot',
}

function headline({ overall, window }: Shown, paint: Paint): string {
  const { verdict = 'Settled', because } = overall ?? {}
  const parts = [
    paint.strong('cluster'),
    paint[tones[verdict]](verdict.toLowerCase()),
    ...(window ? [windowText(window)] : []),
    ...(because === undefined ? [] : [brief(because)]),
  ]
  return parts.join(` ${paint.mark.dot} `)
}

function windowText({ from, at }: NonNullable<Layers['window']>): string {
  const where = [from && `from ${from}`, at && `now at ${at}`].filter(Boolean).join(', ')
  return `in an EUS window${where === '' ? '' : ` (${where})`}`
}

interface Look {
  takenAt: string
  paint: Paint
  entry: Entry
  /** More than what matters now. */
  wide: boolean
}

function linesOf(layer: TitledLayer, { takenAt, paint, entry, wide }: Look): string[] {
  const { title, verdict, says, since, waitsFor, expected, notes = [], help = [], channels } = layer
  // What is as it should be is in nobody's colour of alarm.
  const tone = expected === undefined ? tones[verdict] : 'strong'
  const word = verdict === 'Unknown' ? 'not known' : verdict.toLowerCase()
  const age = since === undefined ? '' : `, for ${ageAt(since, takenAt)}`
  return [
    ...entry(title, `${paint[tone](`${paint.mark[marks[verdict]]} ${word}`)}: ${brief(says)}${age}`),
    ...(expected === undefined ? [] : entry('', `expected: ${expected}`)),
    ...(waitsFor ? entry('', `waits for ${brief(waitsFor)}`) : []),
    ...notes.flatMap((note) => entry('', paint.dim(brief(note)))),
    ...(wide && channels ? entry('', paint.dim(`channels: ${channels.map(inWords).join(', ')}`)) : []),
    ...help.flatMap((line) => entry('', paint.dim(`${paint.mark.next} ${line}`))),
  ]
}

const inWords = ({ name, newest }: NonNullable<TitledLayer['channels']>[number]): string =>
  newest === undefined ? name : `${name} (${newest})`
