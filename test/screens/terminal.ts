import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ReadStream, WriteStream } from 'node:tty'

export interface ScreenSize {
  columns: number
  rows: number
}

/** A pane of tmux: what is written to it is shown as a person sees it. */
export interface Terminal {
  readonly stdout: WriteStream
  /** Questions go here: inquirer ends the stream that it asked on, which a process's own stderr ignores. */
  readonly questions: WriteStream
  /** What a person types, once keys are sent. */
  readonly stdin: ReadStream
  /** The lines that stand on the screen, without the empty ones below the last. Nothing else happens in this process meanwhile. */
  screen(): string[]
  /** The screen, as soon as it has a line that matches; throws after five seconds. */
  screenWith(pattern: RegExp): Promise<string[]>
  /** Types keys by tmux' names for them. */
  press(...keys: string[]): void
  close(): void
}

/** A tmux of its own, on a socket of its own. Throws where tmux is not installed: a screen that nobody looked at is not a screen that is right. */
export class Tmux {
  readonly #folder = mkdtempSync(join(tmpdir(), 'kvup-screens-'))
  #mark = 0

  constructor() {
    try {
      // A server ends with its last pane: this one keeps it, and ends it should nobody stop it.
      this.#run('new-session', '-d', 'exec sleep 1200')
    } catch (error) {
      rmSync(this.#folder, { recursive: true, force: true })
      throw new Error('the screens are looked at in tmux, which is not installed: apt-get install tmux', {
        cause: error,
      })
    }
  }

  open({ columns, rows }: ScreenSize): Terminal {
    const size = ['-x', String(columns), '-y', String(rows)]
    const opened = this.#run(
      'new-session',
      '-d',
      '-P',
      '-F',
      '#{pane_id} #{pane_tty}',
      ...size,
      'exec sleep 900',
    )
    const [pane = '', device = ''] = opened.trim().split(' ')
    const stdout = new WriteStream(openSync(device, 'r+'))
    const questions = new WriteStream(openSync(device, 'r+'))
    const stdin = new ReadStream(openSync(device, 'r+'))
    const screen = (): string[] => {
      // What was written before the mark is on the screen once the mark has arrived.
      const mark = `mark-${++this.#mark}`
      stdout.write(`\u001b]2;${mark}\u0007`)
      while (this.#run('display-message', '-p', '-t', pane, '#{pane_title}').trim() !== mark);
      const lines = this.#run('capture-pane', '-p', '-t', pane).split('\n')
      return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
    }
    return {
      stdout,
      questions,
      stdin,
      screen,
      async screenWith(pattern) {
        for (let tries = 0; tries < 250; tries++) {
          const lines = screen()
          if (lines.some((line) => pattern.test(line))) return lines
          await pause(20)
        }
        throw new Error(`${pattern} did not come:\n${screen().join('\n')}`)
      },
      press: (...keys) => void this.#run('send-keys', '-t', pane, ...keys),
      close: () => {
        for (const stream of [stdin, questions, stdout]) stream.destroy()
        this.#run('kill-pane', '-t', pane)
      },
    }
  }

  stop(): void {
    this.#run('kill-server')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #run(...words: string[]): string {
    const env = {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      HOME: '/nonexistent',
      TMUX_TMPDIR: this.#folder,
    }
    return execFileSync('tmux', ['-u', '-f', '/dev/null', ...words], { env, encoding: 'utf8', stdio: 'pipe' })
  }
}
