import { scriptText } from './script-text.ts'

/**
 * Bash 3.2 and later. What may be a word is put on the line so that bash takes it as that word: escaped for the quote that is open. `$2` is the
 * text that readline replaces, which begins after the last break character or the open quote.
 */
export const bashScript = scriptText`# bash completion for NAME: source <(NAME completion bash)

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
