import { resolve } from 'node:path'
import type { Context } from '../../context.ts'
import { fileTrouble } from '../../lib/kube/bounded-file.ts'
import { KvupError, usageError } from '../../lib/kube/errors.ts'
import { shellWord } from '../../lib/kube/shell-line.ts'
import { reportOf } from '../../lib/output/report/report-model.ts'
import { parseReportSource, type ReportSource } from '../../lib/output/report/report-source.ts'
import { reportMarkdown, reportView, savedText } from '../../lib/output/report/report-view.ts'
import { sanitiseDeep } from '../../lib/output/terminal.ts'
import { readHistory } from '../history.ts'
import { redactedSource } from './redacted-source.ts'

export interface ReportOptions {
  toFile?: string
  full?: boolean
  from?: string
}

/** A page, a ticket or a summary of one document; reads only. Throws `usage` for what is none. */
export async function report(cx: Context, options: ReportOptions, typed?: string): Promise<void> {
  const { toFile, full = false } = options
  if (toFile !== undefined) ensureOwnFile(toFile, typed)
  const whole = isFile(typed) ? await sourceIn(cx, typed) : await sourceOfRun(cx, options, typed)
  const source = full ? whole : { ...whole, ...redactedSource(whole) }
  const made = reportOf(source, { redacted: !full })
  const isTicket = cx.flags.output === 'markdown'
  if (toFile !== undefined && (isTicket || /\.(?:md|markdown)$/iu.test(toFile)))
    await save(cx, toFile, reportMarkdown(made))
  else if (toFile !== undefined) await savePage(cx, toFile, { made, source })
  // The ticket is in the file: it is not printed as well.
  if (toFile !== undefined && isTicket) return cx.printer.note(savedText(toFile, !full))
  cx.printer.result(
    { ...made, ...(toFile !== undefined && { file: toFile }) },
    reportView(`kvup report${typed === undefined ? '' : ` ${shellWord(typed)}`}`),
  )
}

/** Throws `usage` for a name of no file, and for that of the document itself. */
function ensureOwnFile(toFile: string, typed = ''): void {
  if (toFile === '' || toFile === '-') throw notSaved(toFile, 'it is no name of a file')
  if (isFile(typed) && resolve(toFile) === resolve(typed))
    throw notSaved(toFile, 'it is the document of the report')
}

const isFile = (typed: string | undefined): typed is string =>
  typed !== undefined && !/^[1-9]\d{0,6}$/u.test(typed)

async function sourceIn(cx: Context, file: string): Promise<ReportSource> {
  const text = await (file === '-' ? cx.world.readStdin() : cx.world.readText(file)).catch(
    (cause: unknown) => {
      if (cause instanceof KvupError) throw cause
      const why = fileTrouble(cause, 'read')
      const isNumber = /^[-+]?\d+$/u.test(file)
      const what = isNumber
        ? `there is no run ${file}, and no file of that name can be read`
        : `cannot read ${file}`
      throw usageError('no-such-file', `${what}: ${why}`, {
        remedy: 'kvup history     lists the runs: their numbers can stand in its place',
        cause,
      })
    },
  )
  return parseReportSource(text, file === '-' ? 'standard input' : file)
}

/** Without a number of the last run. */
async function sourceOfRun(
  cx: Context,
  { from }: ReportOptions,
  typed: string | undefined,
): Promise<ReportSource> {
  const asked = { ...(from !== undefined && { from }) }
  const document = await readHistory(cx, typed === undefined ? { ...asked, limit: 1 } : asked, runOf(typed))
  if (document.runs.length === 0)
    throw usageError('no-such-run', 'no run is recorded: the journal is empty', {
      remedy: 'kvup report --help     shows how a report of a plan, check or rehearsal is made',
    })
  return { document: { ...sanitiseDeep({ ...document }), kind: document.kind }, events: [] }
}

const runOf = (typed: string | undefined): number | undefined =>
  typed === undefined ? undefined : Number(typed)

async function savePage(
  cx: Context,
  file: string,
  { made, source }: { made: ReturnType<typeof reportOf>; source: ReportSource },
): Promise<void> {
  const { reportPage } = await import('../../lib/output/report/report-page.ts')
  const page = reportPage(made, source, { version: cx.world.version, at: cx.clock.now() })
  await save(cx, file, page)
}

async function save({ world }: Context, file: string, text: string): Promise<void> {
  await world.writeText(file, text).catch((cause: unknown) => {
    throw notSaved(file, fileTrouble(cause, 'write'), cause)
  })
}

const notSaved = (file: string, why: string, cause?: unknown): Error =>
  usageError('report-not-saved', `the report cannot be written to ${file === '' ? "''" : file}: ${why}`, {
    remedy: 'name a file that can be written: --to-file FILE',
    cause,
  })
