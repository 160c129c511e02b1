import { brief, displayWidth, pad, helpLine } from './text.ts'
import { describeError, type Paint } from './printer.ts'
import { approvalNeeded, isOwnLine, KvupError, Unforeseen } from '../kube/errors.ts'
import { readsAsLead, sanitise, sanitiseDeep, sanitiseLine, toType } from './terminal.ts'
import { type Room, stateLines } from './views/cluster-state.ts'

/** Lines for stderr: the failure, its object and cause indented, then what helps behind an arrow. Bugs say so; the stack only from `-v 6`. */
export function errorLines(
  error: unknown,
  paint: Paint,
  { verbosity = 0, columns = Infinity, rows }: { verbosity?: number } & Partial<Room> = {},
): string[] {
  if (!(error instanceof KvupError)) return bugLines(error, paint, verbosity)
  const [first = '', ...rest] = error.message.replaceAll('\r\n', '\n').split('\n')
  const isTheirTurn = error.reason === approvalNeeded
  const object = error.object === undefined ? [] : [sanitiseLine(error.object)]
  const details = [
    ...rest
      .map((line) => ({ isOwn: isOwnLine(line), text: brief(sanitiseLine(line)).trimStart() }))
      .flatMap(({ isOwn, text }) => (text === '' ? [] : isOwn ? notALine(text) : `| ${text}`)),
    ...object.filter((text) => !error.message.includes(text)),
  ]
  return [
    isTheirTurn
      ? paint.strong(sanitiseLine(first))
      : `${error.reason === 'answered-no' ? '' : `${paint.bad('error:')} `}${brief(sanitiseLine(first))}`,
    ...details.map((line) => `  ${line}`),
    ...causeLines(error, verbosity),
    ...(error.left === undefined
      ? [
          ...error.notes.map((line) => `  ${notALine(brief(sanitiseLine(line)))}`),
          ...(isTheirTurn ? nextLines(error.remedy, paint) : remedyLines(error.remedy, paint)),
        ]
      : stateLines(sanitiseDeep(error.left), paint, { columns, rows })),
  ]
}

/** A note may be somebody else's: one that begins as a line of what helps or a new error does is neither. */
const notALine = (line: string): string =>
  readsAsLead.test(line.trimStart()) || /^\s*(?:error|warning):/iu.test(line) ? `| ${line.trimStart()}` : line

/** `command     what it does`: the second halves stand below each other. One that accepts a risk is no next line, but another one. */
export function remedyLines(remedy: readonly string[], { mark }: Pick<Paint, 'mark'>): string[] {
  const split = remedy.map((line) => sanitiseLine(line).split(/ {3,}/))
  const width = Math.max(0, ...split.filter(([, why]) => why).map(([command = '']) => displayWidth(command)))
  return split.map(([command = '', ...why]) => {
    const line = why.length > 0 ? `${pad(command, width)}   ${why.join(' ')}` : command
    return `  ${/^(?:# )?accepts /u.test(why[0] ?? '') ? toType('Or:', line) : helpLine(line, { mark })}`
  })
}

/** `Next: LINE`, and what else helps below it. */
function nextLines([first, ...more]: readonly string[], paint: Paint): string[] {
  const [command = '', why] = sanitiseLine(first ?? '').split(/ {3,}/)
  const next = [
    ...(command === '' ? [] : [toType('Next:', command)]),
    ...(why === undefined ? [] : [`    ${why}`]),
  ]
  return [...next, ...remedyLines(more, paint)]
}

function causeLines(error: Error, verbosity: number): string[] {
  if (verbosity < 6 || error.cause === undefined) return []
  const { cause } = error
  return stackLines(cause).map((line, index) => (index === 0 ? `  caused by ${line}` : `  ${line}`))
}

function bugLines(thrown: unknown, paint: Paint, verbosity: number): string[] {
  const { message, remedy = [] } = describeError(thrown)
  const error = thrown instanceof Unforeseen ? thrown.cause : thrown
  const name = error instanceof Error ? error.name : 'Error'
  return [
    `${paint.bad('error:')} ${sanitiseLine(`${name}: ${message}`)}`,
    '  this is a bug in kvup, not a fault of the cluster or of the command line',
    ...(verbosity >= 6 ? stackLines(error).map((line) => `  ${line}`) : []),
    ...remedyLines(remedy, paint),
  ]
}

function stackLines(error: unknown): string[] {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return sanitise(text).split('\n')
}
