import { type Beat, type Clock, ownClock, systemBeat, ticks } from '../kube/clock.ts'
import { usageError } from '../kube/errors.ts'
import { answerIn, type Answering, collectedRows, type OpenRows, rowsIn } from './formats/answer.ts'
import { type OutputFormat, parseOutput } from './formats/output-format.ts'
import type { Making } from './formats/reports.ts'
import {
  pageLines,
  LivePage,
  PageHeading,
  type LiveTerminal,
  type Story,
  tellStory,
} from './progress/progress-output.ts'
import { paintedWidth, pieces, wrap } from './text.ts'
import {
  type ColourWish,
  type Environment,
  inLocale,
  isColoured,
  isLive,
  isUnicode,
  paintFor,
  printedLine,
  sanitise,
  type Stream,
  withoutRunnerCommands,
} from './terminal.ts'
import type {
  Document,
  DocumentStatus,
  Paint,
  Printer,
  ReportFormat,
  Rows,
  RowsView,
  Size,
  View,
} from './printer.ts'
import { type CommandSpeech, withoutDanger } from './command-line.ts'

/** What a printer needs to know. Flags are as typed; nothing is read from the process. */
export interface PrinterOptions {
  stdout: Stream
  stderr: Stream
  output: string
  headers: boolean
  sortBy?: string | undefined
  color: ColourWish
  env: Environment
  clock: Clock
  verbosity?: number
  /** `--verbose`: the steps of a run by their names, and not only its stages. */
  verbose?: boolean
  /** `-w`: each answer is a document of its own, written at once. */
  watch?: boolean
  /** Formats that only this command has. */
  formats?: readonly ReportFormat[]
  /** `kind` of the document that reports a failure before there was an answer. */
  failureKind?: string
  /** What was called, for reports: `kvup upgrade`. */
  command?: string
  /** For pages and tickets. */
  making?: Making
  /** `-q`: the verdict and errors alone. */
  quiet?: boolean
  /** Reads the file of `jsonpath-file=`. */
  readText?: (file: string) => Promise<string>
  beat?: Beat
}

/** A printer, and what ends its output. */
export interface OpenPrinter extends Printer {
  /** Has to be called once, last: closes the live view, writes the kept document, reports the error. Never throws. */
  finish(error?: unknown): void
  /** For SIGTSTP, SIGCONT and exit. */
  readonly live: LiveTerminal
}

/** Opens stdout and stderr for one command. Throws a usage error (exit 2) for an unknown format or a template that does not parse. */
export async function openPrinter(asked: PrinterOptions): Promise<OpenPrinter> {
  const format = await withTemplate(parseOutput(asked.output, asked.formats), asked.readText)
  const clock = new ShownClock(asked.clock)
  const options = onRunner({ ...asked, clock }, format)
  const page = pageOn(options)
  const story = pageLines(storyOn(options, format), page)
  const how: Answering = {
    write: (text) => story.aside(() => options.stdout.write(text)),
    warn: story.warn,
    paint: paintOn(options.stdout, options),
    size: () => sizeOf(options, format),
    isWatch: options.watch ?? false,
    now: () => options.clock.now(),
    draw: page && ((lines) => story.aside(() => page.show(lines))),
    failureKind: options.failureKind ?? 'Error',
    command: options.command ?? 'kvup',
    making: options.making ?? { version: '' },
    isQuiet: options.quiet ?? false,
  }
  const answer = await answerIn(format, how)
  const sort =
    options.sortBy === undefined
      ? asItIs
      : (await import('./formats/jsonpath-formats.ts')).itemSorter(options.sortBy)
  const give: typeof answer.give = (given) =>
    answer.give({ ...given, document: sort(withoutDanger(given.document)) })
  const tellRows = sort === asItIs ? rowsIn(format, how, give) : collectedRows(give)
  let rows: OpenRows | undefined
  return {
    result: <T extends Document>(document: T, view: View<T>, status: DocumentStatus = 'complete') =>
      give({ document, view, status }),
    rows<Row, T extends Document>(kind: string, view: RowsView<Row, T>): Rows<Row, T> {
      rows = tellRows(kind, view as unknown as RowsView<unknown, Document>)
      const { rows: to } = rows
      return {
        add: (more) => to.add(withoutDanger(more)),
        end: (document, status) => to.end(withoutDanger(document), status),
      }
    },
    unchanged<T extends Document>(document: T, view: View<T>) {
      if (page && (format.is === 'table' || format.is === 'wide'))
        give({ document, view, status: 'complete' })
    },
    event(event) {
      const shown = withoutDanger(event)
      answer.event?.(shown)
      story.event(shown)
    },
    observe: (observation) => answer.observe?.(withoutDanger(observation)),
    timeBy: (other) => clock.follow(other),
    awaiting: story.awaiting,
    note: story.note,
    screen(lines) {
      if (options.quiet) return
      const paint = paintOn(options.stderr, options)
      // A line that fills the last column makes some terminals begin another one.
      const room = sizeOf({ ...options, stdout: options.stderr }, format).columns - 1
      const broken = (line: string) => (paintedWidth(line) > room ? pieces(sanitise(line), room) : [line])
      for (const line of lines(paint)
        .flatMap((one) => wrap(one, room))
        .flatMap(broken))
        story.aside(() => options.stderr.write(`${inLocale(printedLine(line), paint)}\n`))
    },
    warn: story.warn,
    finish(error) {
      story.end(error)
      if (!rows?.finish(error)) answer.end(error)
    },
    live: story.live,
  }
}

/** The clock that figures of time are of. What a person waits for is by the first one, whichever is shown. */
class ShownClock implements Clock {
  readonly machine: Clock
  #shown: Clock

  constructor(clock: Clock) {
    this.machine = ownClock(clock)
    this.#shown = clock
  }

  follow(clock: Clock): void {
    this.#shown = clock
  }

  now(): Date {
    return this.#shown.now()
  }

  ticks(): number {
    return ticks(this.#shown)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#shown.sleep(ms, signal)
  }
}

function pageOn(options: PrinterOptions): LivePage | undefined {
  const { stdout, env, watch } = options
  if (!watch || !isLive(stdout, env)) return undefined
  const { clock, beat = systemBeat } = options
  return new LivePage(stdout, new PageHeading({ clock, beat, paint: paintOn(stdout, options) }))
}

/** In a job of GitHub Actions nothing that others wrote may read like a command to its runner, but the annotations that are asked for. */
function onRunner(options: PrinterOptions, format: OutputFormat): PrinterOptions {
  const { env, stdout, stderr } = options
  const annotates = format.is === 'report' && format.format === 'github'
  if (env['GITHUB_ACTIONS'] !== 'true' && !annotates) return options
  const isText = format.is === 'table' || format.is === 'wide' || format.is === 'name'
  return {
    ...options,
    stderr: guarded(stderr),
    stdout: isText ? guarded(stdout) : stdout,
  }
}

const guarded = (stream: Stream): Stream => ({
  write: (text) => stream.write(withoutRunnerCommands(text)),
  ...(stream.isTTY !== undefined && { isTTY: stream.isTTY }),
  columns: () => stream.columns?.(),
  rows: () => stream.rows?.(),
  onResize: (changed) => stream.onResize?.(changed) ?? (() => undefined),
})

function storyOn(options: PrinterOptions, format: OutputFormat): Story {
  if (options.quiet) return quietStory(options)
  return tellStory({
    stream: options.stderr,
    clock: options.clock,
    paint: paintOn(options.stderr, options),
    env: options.env,
    verbosity: options.verbosity ?? 0,
    verbose: options.verbose ?? false,
    beat: options.beat ?? systemBeat,
    eventsElsewhere: format.is === 'ndjson',
  })
}

/** Nothing but how it ended, and nothing that moves. */
function quietStory(options: PrinterOptions): Story {
  const story = tellStory({
    stream: { write: (text) => options.stderr.write(text) },
    clock: options.clock,
    paint: paintOn(options.stderr, options),
    env: options.env,
    verbosity: options.verbosity ?? 0,
    verbose: false,
    beat: () => () => undefined,
    eventsElsewhere: true,
  })
  return { ...story, note: () => undefined, warn: () => undefined }
}

function asItIs<T>(document: T): T {
  return document
}

type Ready = Exclude<OutputFormat, { is: 'jsonpath-file' }>

async function withTemplate(format: OutputFormat, readText: PrinterOptions['readText']): Promise<Ready> {
  if (format.is !== 'jsonpath-file') return format
  if (readText === undefined) throw usageError('output-format', 'no file can be read here')
  return { is: 'jsonpath', template: await readText(format.file) }
}

function paintOn(stream: Stream, { color, env }: PrinterOptions): Paint {
  return paintFor({ colour: isColoured(stream, color, env), unicode: isUnicode(env) })
}

function sizeOf({ stdout, headers, watch }: PrinterOptions, format: OutputFormat): Size {
  const isTerminal = stdout.isTTY === true
  const columns = isTerminal ? (stdout.columns?.() ?? 80) : Infinity
  // A page that is drawn again and again begins at the top of the terminal.
  const rows = isTerminal && watch !== true ? stdout.rows?.() : undefined
  return { columns, ...(rows !== undefined && { rows }), wide: format.is === 'wide', headers }
}

/** The printer, with every command that it prints made to mean the cluster that was named on the command line. */
export function printerWithConnectionFlags(printer: OpenPrinter, speech: CommandSpeech): OpenPrinter {
  return {
    result(document, view, status) {
      if (isData(document)) printer.result(document, view, status)
      else printer.result(speech.parts(document), viewWithConnectionFlags(view, speech), status)
    },
    unchanged: (document, view) =>
      printer.unchanged(speech.parts(document), viewWithConnectionFlags(view, speech)),
    rows: (kind, view) =>
      rowsWithConnectionFlags(printer.rows(kind, rowsViewWithConnectionFlags(view, speech)), speech),
    event: (event) => printer.event(speech.parts(event)),
    observe: (observation) => printer.observe?.(speech.parts(observation)),
    timeBy: (clock) => printer.timeBy?.(clock),
    awaiting: (what) => printer.awaiting(what),
    note: (line) => printer.note(speech.line(line)),
    ...(printer.screen && {
      screen: (lines) => printer.screen?.((paint) => lines(paint).map((line) => speech.line(line))),
    }),
    warn: (line) => printer.warn(speech.line(line)),
    finish: (error) => printer.finish(speech.error(error)),
    live: printer.live,
  }
}

/** Objects of the cluster, to be read again by kvup: nothing in them is a word of ours. */
function isData({ kind }: Document): boolean {
  return kind === 'Snapshot'
}

function viewWithConnectionFlags<T extends Document>(view: View<T>, speech: CommandSpeech): View<T> {
  return { ...view, text: (...shown) => view.text(...shown).map((line) => speech.line(line)) }
}

function rowsViewWithConnectionFlags<Row, T extends Document>(
  view: RowsView<Row, T>,
  speech: CommandSpeech,
): RowsView<Row, T> {
  return {
    ...view,
    below: (...shown) => view.below(...shown).map((line) => speech.line(line)),
    ...(view.whole && {
      whole: (...shown) => (view.whole?.(...shown) ?? []).map((line) => speech.line(line)),
    }),
  }
}

function rowsWithConnectionFlags<Row, T extends Document>(
  rows: Rows<Row, T>,
  speech: CommandSpeech,
): Rows<Row, T> {
  return {
    add: (more) => rows.add(speech.parts(more)),
    end: (document, status) => rows.end(speech.parts(document), status),
  }
}
