/** The text of a shell script, in which `\${` stands for `${` and nothing else is escaped. */
function scriptText({ raw }: TemplateStringsArray): string {
  return raw.join('').replaceAll('\\${', '${')
}

/**
 * Bash 3.2 and later. What may be a word is put on the line so that bash takes it as that word: escaped for the quote that is open. `$2` is the
 * text that readline replaces, which begins after the last break character or the open quote.
 */
const bashScript = scriptText`# bash completion for NAME: source <(NAME completion bash)

# The words of the line up to the cursor into "words", as bash would read them, with nothing in them run; the open quote
# into "open", and into "from" how many characters of the last word readline leaves as they are.
_NAME_words() {
  local typed="\${COMP_LINE:0:COMP_POINT}" word='' begun='' char i
  local start=$((\${#typed} - \${#1}))
  for ((i = 0; i < \${#typed}; i++)); do
    if ((i == start)); then from=\${#word}; fi
    char="\${typed:i:1}"
    case "$open$char" in
      \'\' | \"\") open='' ;;
      \'?) word+="$char" ;;
      \"\\)
        char="\${typed:i+1:1}"
        i=$((i + 1))
        case "$char" in [\"\\\$\`]) word+="$char" ;; *) word+="\\$char" ;; esac
        ;;
      \"?) word+="$char" ;;
      \\)
        word+="\${typed:i+1:1}" begun=1
        i=$((i + 1))
        ;;
      \' | \") open="$char" begun=1 ;;
      [[:space:]])
        if [ -n "$begun" ]; then words+=("$word"); fi
        word='' begun=''
        ;;
      *) word+="$char" begun=1 ;;
    esac
  done
  if ((start == i)); then from=\${#word}; fi
  words+=("$word")
}

# "value", escaped for where it goes. Inside double quotes nothing keeps "!" from being expanded.
_NAME_escape() {
  local plain="$value" char i
  if [ -z "$open" ]; then
    if [ -n "$value" ]; then printf -v value %q "$value"; fi
    return 0
  fi
  case "$open$value" in \"*!*) return 1 ;; esac
  value=''
  for ((i = 0; i < \${#plain}; i++)); do
    char="\${plain:i:1}"
    case "$open$char" in
      \'\') value+="'\\''" ;;
      \"[\"\\\$\`]) value+="\\$char" ;;
      *) value+="$char" ;;
    esac
  done
}

_NAME() {
  local line value prefix='' directive='' open='' from=0
  local -a words lines
  words=() lines=() COMPREPLY=()
  _NAME_words "$2"
  case "\${words[\${#words[@]}-1]}" in --*=*) prefix="\${words[\${#words[@]}-1]%%=*}=" ;; esac
  while IFS= read -r line; do
    case "$directive" in ?*) lines+=("$directive") ;; esac
    directive="$line"
  done < <(NAME __complete -- "\${words[@]:1}" </dev/null 2>/dev/null)
  case "$directive" in :[0-9]*) directive="\${directive#:}" ;; *) return 0 ;; esac
  for line in \${lines[@]+"\${lines[@]}"}; do
    value="$prefix\${line%%$'\t'*}"
    value="\${value:from}"
    if _NAME_escape; then COMPREPLY+=("$value"); fi
  done
  if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
  if [ "\${#COMPREPLY[@]}" -eq 0 ] && ((!(directive & 4))); then compopt -o default 2>/dev/null; fi
  return 0
}
complete -F _NAME NAME
`

/** zsh 5 and later; compadd escapes what it puts on the line. */
const zshScript = scriptText`#compdef NAME
# zsh completion for NAME: source <(NAME completion zsh)
_NAME() {
  local line value directive
  local -a lines candidates more
  lines=("\${(@f)$(NAME __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" </dev/null 2>/dev/null)}")
  [[ "$lines[-1]" == :<-> ]] || return 1
  directive="\${lines[-1]#:}"
  lines[-1]=()
  for line in "\${lines[@]}"; do
    value="\${line%%$'\t'*}"
    value="\${\${value//\\/\\\\}//:/\\:}"
    [[ "$line" == *$'\t'* ]] && value+=":\${line#*$'\t'}"
    candidates+=("$value")
  done
  [[ "$PREFIX" == --*=* ]] && compset -P 1 '*='
  (( directive & 2 )) && more=(-S '')
  if (( $#candidates )); then
    _describe -t NAME NAME candidates "\${more[@]}"
  elif (( !(directive & 4) )); then
    compset -P 'jsonpath-file='
    _files
  else
    return 1
  fi
}
if [[ "\${funcstack[1]}" == _NAME ]]; then _NAME "$@"; else compdef _NAME NAME; fi
`

/** fish 3 and later, which escapes what it puts on the line. */
const fishScript = scriptText`# fish completion for NAME: NAME completion fish | source
function __NAME_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l typed (commandline -ct)
    # As the shell would read it; a quote may still be open.
    set -l current (string unescape -- "$typed"; or string unescape -- "$typed\""; or string unescape -- "$typed'")
    test (count $current) -eq 1; or set current "$typed"
    set -l lines (NAME __complete -- $words "$current" </dev/null 2>/dev/null)
    string match -qr '^:[0-9]+$' -- "$lines[-1]"; or return
    set -l directive (string sub -s 2 -- $lines[-1])
    set -e lines[-1]
    set -l prefix (string match -r '^--[^=]+=' -- "$current")
    if test (count $lines) -gt 0
        printf '%s\n' "$prefix"$lines
    else if test (math "$directive % 8") -lt 4
        set -l begun (string match -r '^(?:--[^=]+=)?(?:jsonpath-file=)?' -- "$current")
        set -l paths (__fish_complete_path (string sub -s (math (string length -- "$begun") + 1) -- "$current"))
        if test (count $paths) -gt 0
            printf '%s\n' "$begun"$paths
        end
    end
end
complete -c NAME -f -a '(__NAME_complete)'
`

/** PowerShell 5 and later, which takes every kind of typographic quote for a quote. */
const powershellScript = scriptText`# PowerShell completion for NAME: NAME completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'NAME' -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object {
      if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.Extent.Text }
    })
  # Older versions cannot pass an empty argument, but they can pass its quotes.
  if ($wordToComplete -eq '') { $words += '""' }
  $prefix = if ($wordToComplete -match '^--[^=]+=') { $Matches[0] } else { '' }
  NAME __complete '--' $words 2>$null | Where-Object { $_ -notmatch '^:[0-9]+$' } | ForEach-Object {
    $value, $description = $_ -split [char]9, 2
    if (-not $description) { $description = $value }
    $text = $prefix + $value
    if ($text -notmatch '^[\w./:%+=-]+$') { $text = "'" + ($text -replace "['\u2018-\u201B]", '$0$0') + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
  }
}
`

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
