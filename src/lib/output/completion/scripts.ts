import { bashScript } from './bash-script.ts'
import { fishScript } from './fish-script.ts'
import { powershellScript } from './powershell-script.ts'
import { zshScript } from './zsh-script.ts'

/** Shells that have a script; each asks `NAME __complete -- WORDS…` and shows what it says. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/** The completion script of a shell for the program `name`. */
export function completionScript(shell: Shell, name: string): string {
  return scripts[shell].replaceAll('NAME', name)
}

const scripts: Record<Shell, string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
}
