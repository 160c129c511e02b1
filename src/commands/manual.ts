import { exitCode } from '../lib/kube/errors.ts'
import type { ReportFormat } from '../lib/output/printer.ts'

const codes: Readonly<Record<keyof typeof exitCode, string>> = {
  done: 'done, or nothing to do',
  bug: 'a bug',
  usage: 'usage',
  blocked: 'blocked',
  timedOut: 'timed out',
  drifted: 'the plan no longer fits',
  locked: 'locked by another run',
  forbidden: 'unauthorized or forbidden',
  unreachable: 'no cluster, or unreachable',
  lost: 'done, but VMs or volumes were lost',
  asked: 'asked for by --exit-code',
  interrupted: 'Ctrl-C',
  terminated: 'SIGTERM',
}

export interface Manual {
  /** Lines to paste, with what they are for. */
  examples: readonly (readonly [line: string, what: string])[]
  /** Besides done, bug and usage, which every command may end with. */
  codes?: readonly (keyof typeof exitCode)[]
  more?: string
  last?: string
}

/** Of all commands together. */
export const everyCode = Object.keys(exitCode) as (keyof typeof exitCode)[]

/** What the codes of a command that asks the cluster are. */
export const asksCluster = ['blocked', 'forbidden', 'unreachable'] as const

const everywhere = 'Connection and output flags: kvup --help'

/** The end of a help text: examples that run as they stand, and the exit codes. */
export function manual({ examples, codes: more = [], more: words, last = everywhere }: Manual): string {
  const width = Math.max(...examples.map(([line]) => line.length))
  const lines = examples.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`)
  const shown = Object.entries(exitCode).filter(
    ([name]) => name === 'done' || name === 'usage' || more.some((one) => one === name),
  )
  return [
    '\nExamples:',
    ...lines,
    ...(words === undefined ? [] : ['', words]),
    '\nExit codes:',
    ...shown.map(([name, code]) => `  ${String(code).padEnd(3)} ${codes[name as keyof typeof exitCode]}`),
    `\n${last}\n`,
  ].join('\n')
}

/** Formats that only some commands have, besides those of `-o` everywhere. */
export const reportFormats: Readonly<Record<string, readonly ReportFormat[]>> = {
  check: ['junit', 'sarif', 'markdown'],
  plan: ['markdown'],
}
