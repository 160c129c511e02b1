/** Shells that have a script; each asks `NAME __complete -- WORDS…` and shows what it says. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

/** The completion script of a shell for the program `name`. Works in bash 3.2, zsh 5, fish 3, PowerShell 5 and later. */
export function completionScript(shell: Shell, name: string): string {
  return scripts[shell].replaceAll('NAME', name)
}

const bash = String.raw`# bash completion for NAME: source <(NAME completion bash)
_NAME() {
  local line directive=0 prefix='' typed="${'$'}{COMP_LINE:0:COMP_POINT}"
  local -a words
  read -ra words <<<"$typed"
  case "$typed" in *[[:space:]]) words+=('') ;; esac
  local current="${'$'}{words[${'$'}{#words[@]}-1]}"
  # Where bash splits words at "=", it replaces only what follows it.
  case "$COMP_WORDBREAKS" in *=*) case "$current" in --*=*) prefix="${'$'}{current%%=*}=" ;; esac ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :*) directive="${'$'}{line#:}" ;;
      *) line="${'$'}{line%%$'\t'*}"; COMPREPLY+=("${'$'}{line#"$prefix"}") ;;
    esac
  done < <(NAME __complete -- "${'$'}{words[@]:1}" 2>/dev/null)
  if [ "${'$'}{#COMPREPLY[@]}" -eq 1 ] && [ "${'$'}{COMPREPLY[0]%=}" != "${'$'}{COMPREPLY[0]}" ]; then
    compopt -o nospace 2>/dev/null
  fi
  if [ "${'$'}{#COMPREPLY[@]}" -eq 0 ] && [ "$directive" = 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _NAME NAME
`

const zsh = String.raw`#compdef NAME
# zsh completion for NAME: source <(NAME completion zsh)
_NAME() {
  local line directive=0
  local -a lines candidates
  lines=("${'$'}{(@f)$(NAME __complete -- "${'$'}{(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in "${'$'}{lines[@]}"; do
    case "$line" in
      :*) directive="${'$'}{line#:}" ;;
      *$'\t'*) candidates+=("${'$'}{${'$'}{line%%$'\t'*}//:/\\:}:${'$'}{line#*$'\t'}") ;;
      ?*) candidates+=("${'$'}{line//:/\\:}") ;;
    esac
  done
  if (( ${'$'}{#candidates} )); then
    _describe -t NAME NAME candidates
  elif [[ "$directive" == 0 ]]; then
    _files
  fi
}
if [[ "${'$'}{funcstack[1]}" == _NAME ]]; then _NAME "$@"; else compdef _NAME NAME; fi
`

const fish = String.raw`# fish completion for NAME: NAME completion fish | source
function __NAME_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    set -l lines (NAME __complete -- $words "$current" 2>/dev/null)
    if test (count $lines) -eq 1; and test "$lines[1]" = ':0'
        __fish_complete_path "$current"
    else
        string match -v ':*' -- $lines
    end
end
complete -c NAME -f -a '(__NAME_complete)'
`

const powershell = String.raw`# PowerShell completion for NAME: NAME completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'NAME' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
  # Older versions cannot pass an empty argument, but they can pass its quotes.
  if ($wordToComplete -eq '') { $words += '""' }
  NAME __complete '--' $words 2>$null | Where-Object { $_ -notmatch '^:' } | ForEach-Object {
    $value, $description = $_ -split [char]9, 2
    if (-not $description) { $description = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
  }
}
`

const scripts: Record<Shell, string> = { bash, zsh, fish, powershell }
