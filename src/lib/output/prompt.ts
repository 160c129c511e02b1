import { interrupted, type KvupError, usageError } from '../kube/errors.ts'
import type { Choice, Prompt } from '../kube/world.ts'
import { withoutFlags, wordsOf } from '../kube/shell-line.ts'
import { sanitise, sanitiseLine } from './terminal.ts'

/** What a prompt needs of the process: where answers come from and where questions go (stderr). */
interface Asking {
  stdin: NodeJS.ReadStream | (NodeJS.ReadableStream & { isTTY?: boolean })
  stderr: NodeJS.WritableStream
  /** `--yes`. */
  yes: boolean
  /** False with `--no-input`: there is nobody, terminal or not. Absent: true. */
  input?: boolean
  /** `-q`: what a question is about is not shown, so that none is asked. */
  quiet?: boolean
  /** Ctrl-C and SIGTERM end the question as well. */
  signal?: AbortSignal
  /** Clears the terminal of what moves there, before a question. */
  suspend?: () => void
  /** What was typed, to be printed again with `--yes`. */
  typed: string
}

/** A prompt that asks only a person: with `--yes` it asks nobody, without a terminal it throws a usage error that names the flag. */
export function openPrompt(
  asking: Asking,
): Prompt & { confirmName(question: string, name: string): Promise<boolean> } {
  const isAttended = !asking.yes && asking.input !== false && !asking.quiet && asking.stdin.isTTY === true
  return {
    isAttended,
    async confirm(question, line = asking.typed) {
      if (asking.yes) return true
      const again = { ...asking, typed: line }
      return (await ask(again, { type: 'confirm', message: question, default: false })) === true
    },
    async decide(question) {
      if (!isAttended) return undefined
      return (await ask(asking, { type: 'confirm', message: question, default: false })) === true
    },
    async chooseSome(question, choices) {
      if (!isAttended) return undefined
      const answer = await ask(asking, { type: 'checkbox', message: question, ...listOf(choices) })
      return choices
        .map(({ value }) => value)
        .filter((value) => Array.isArray(answer) && answer.includes(value))
    },
    async chooseOne(question, choices) {
      if (!isAttended) return undefined
      const answer = await ask(asking, { type: 'select', message: question, ...listOf(choices) })
      return choices.find(({ value }) => value === answer)?.value
    },
    async confirmName(question, name) {
      if (asking.yes) return true
      const message = `${question} Type ${name} to go on:`
      const answer = await ask(asking, { type: 'input', message })
      return typeof answer === 'string' && answer.trim() === name
    },
  }
}

const listOf = (choices: readonly Choice[]) => ({
  choices: choices.map(({ value, name }) => ({ value, name: sanitiseLine(name), short: value })),
  loop: false,
})

type Question =
  | { type: 'confirm'; message: string; default: boolean }
  | { type: 'input'; message: string }
  | { type: 'checkbox' | 'select'; message: string; choices: readonly Choice[]; loop: boolean }

async function ask(
  { stdin, stderr, input, quiet, signal, suspend, typed }: Asking,
  question: Question,
): Promise<unknown> {
  if (quiet) throw nobodyThere('--quiet forbids it', { question, typed })
  if (input === false) throw nobodyThere('--no-input forbids it', { question, typed })
  if (stdin.isTTY !== true) throw nobodyThere('there is no terminal', { question, typed })
  const { createPromptModule } = await import('inquirer')
  suspend?.()
  const prompt = createPromptModule({ input: stdin, output: stderr, ...(signal && { signal }) })
  try {
    const shown = { ...question, message: sanitise(question.message), name: 'answer' as const }
    const { answer } = await prompt<{ answer: unknown }>([shown])
    return answer
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : givenUp(error)
  }
}

function nobodyThere(
  why: string,
  { question: { message }, typed }: { question: Question; typed: string },
): KvupError {
  return usageError('nobody-to-ask', `kvup must ask "${message}" first, but ${why}`, {
    remedy: `${withoutFlags(wordsOf(typed), { alone: ['--no-input'], valued: [] }).join(' ')} --yes     asks nothing`,
  })
}

/** Ctrl-C at a question closes it with inquirer's own error. */
function givenUp(error: unknown): unknown {
  return error instanceof Error && /ExitPrompt|AbortPrompt/.test(error.name) ? interrupted('SIGINT') : error
}
