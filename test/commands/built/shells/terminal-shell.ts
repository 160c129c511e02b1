import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { bin, type Live, startProcess } from '../program.ts'

export type ShellName = 'bash' | 'zsh' | 'fish'

/** A shell in which a person sits: what is typed is completed by its real editor, and the line is looked at. */
export interface TerminalShell {
  /** The line after TAB. */
  tab(typed: string): Promise<string>
  /** The words that are on the line after everything that fits was put there. */
  all(typed: string): Promise<string[]>
  /** What the program is given when the line is completed and entered. */
  enter(typed: string): Promise<string[]>
  /** Where it works; files that are to be completed lie here. */
  readonly folder: string
  /** Everything that was ever on its screen. */
  screen(): string
  stop(): Promise<void>
}

/** For expect.poll: on a machine that is busy with other tests an answer may come too late, and the next TAB asks again. */
export const sooner = { timeout: 30_000, interval: 50 }

const keys = { all: '\u0018a', tell: '\u0018t', clear: '\u0018c' } as const

/** Each says `ready`, and learns to put everything that fits on the line, to tell the line, and to clear it. */
const setups: Record<ShellName, string> = {
  bash: String.raw`
bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set completion-query-items 0'; bind 'set page-completions off'
bind '"\C-xa": insert-completions'; bind '"\C-xc": kill-whole-line'
tell() { printf '%s\n' "$READLINE_LINE" >"$TOLD.part"; mv "$TOLD.part" "$TOLD"; }
bind -x '"\C-xt": tell'
source <(kvup completion bash)
PS1='$ '; printf 'rea''dy\n'
`,
  zsh: String.raw`
autoload -U compinit && compinit -u -D
unsetopt auto_list auto_menu beep; setopt no_always_last_prompt; LISTMAX=1000
zle -C everything complete-word _generic
zstyle ':completion:everything:*' insert yes
zstyle ':completion:everything::::' completer _all_matches _complete
tell() { printf '%s\n' "$BUFFER" >"$TOLD.part"; mv "$TOLD.part" "$TOLD" }
zle -N tell
bindkey '^Xa' everything '^Xt' tell '^Xc' kill-whole-line '^I' complete-word
source <(kvup completion zsh)
PS1='$ '; printf 'rea''dy\n'
`,
  fish: String.raw`
function fish_prompt; echo '$ '; end
function fish_title; end
function tell; commandline >"$TOLD.part"; mv "$TOLD.part" "$TOLD"; end
function everything; set -l found (complete -C (commandline)); commandline -r -- (string escape -- (string replace -r '\t.*' '' -- $found) | string join ' '); end
bind \cxt tell; bind \cxc 'commandline ""'; bind \cxa everything
kvup completion fish | source
printf 'rea''dy\n'
`,
}

const commands: Record<ShellName, string> = {
  bash: 'exec bash --noprofile --rcfile "$SETUP" -i',
  zsh: 'exec zsh -d -i',
  fish: 'exec fish --no-config -i -C "source $SETUP"',
}

/** Why a shell cannot be driven here; undefined where it can. */
export function missing(shell: ShellName): string | undefined {
  if (!runs('script', ['--version'])) return 'needs script of util-linux for a pseudo-terminal'
  return runs(shell, ['--version']) ? undefined : `needs ${shell}`
}

function runs(program: string, argv: string[]): boolean {
  try {
    execFileSync(program, argv, { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

/** Starts it in a folder of its own. There `kvup` is the built program as far as completion goes; anything else it is told is written down. */
export async function openShell(shell: ShellName, kubeconfig: string): Promise<TerminalShell> {
  const home = mkdtempSync(join(tmpdir(), `kvup-${shell}-`))
  const [told, ran, setup, folder] = ['told', 'ran', 'setup', 'work'].map((name) => join(home, name)) as [
    string,
    string,
    string,
    string,
  ]
  mkdirSync(folder)
  writeFileSync(setup, setups[shell])
  writeFileSync(join(home, '.zshrc'), setups.zsh)
  writeFileSync(join(home, 'kvup'), recorder)
  chmodSync(join(home, 'kvup'), 0o755)
  const env = {
    PATH: `${home}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    ZDOTDIR: home,
    SHELL: '/bin/sh',
    TERM: 'dumb',
    SETUP: setup,
    TOLD: told,
    RAN: ran,
  }
  const command = `stty cols 200 rows 50; ${commands[shell]}`
  const live = startProcess('script', ['-qfc', command, '/dev/null'], {
    kubeconfig,
    env,
    stdin: 'open',
    cwd: folder,
  })
  await live.until(/ready/, 'stdout')
  return drive(live, { home, folder, told, ran })
}

const recorder = `#!/bin/sh
case "$1" in __complete | completion) exec '${process.execPath}' '${bin}' "$@" ;; esac
printf '%s\\0' "$@" >"$RAN.part" && mv "$RAN.part" "$RAN"
`

interface Places {
  home: string
  folder: string
  told: string
  ran: string
}

function drive(live: Live, { home, folder, told, ran }: Places): TerminalShell {
  const line = async (typed: string, key: string) => {
    rmSync(told, { force: true })
    live.type(`${keys.clear}${typed}${key}`)
    live.type(keys.tell)
    return (await written(told, live)).replace(/\n$/, '')
  }
  return {
    folder,
    tab: (typed) => line(typed, '\t'),
    async all(typed) {
      const whole = await line(typed, keys.all)
      const before = typed.slice(0, typed.lastIndexOf(' ') + 1)
      return whole.replace(before, '').split(' ').filter(Boolean)
    },
    async enter(typed) {
      rmSync(ran, { force: true })
      await line(typed, '\t')
      live.type('\r')
      return (await written(ran, live)).split('\0').slice(0, -1)
    },
    screen: () => live.said().stdout,
    async stop() {
      live.type(`${keys.clear}exit\r`)
      await live.ended
      rmSync(home, { recursive: true, force: true })
    },
  }
}

async function written(file: string, live: Live): Promise<string> {
  for (let tries = 0; tries < 1000; tries++) {
    if (existsSync(file)) return readFileSync(file, 'utf8')
    await pause(10)
  }
  throw new Error(`the shell wrote no ${file}; its screen:\n${live.said().stdout}\n${live.said().stderr}`)
}
