import { scriptText } from './script-text.ts'

/** zsh 5 and later; compadd escapes what it puts on the line. */
export const zshScript = scriptText`#compdef NAME
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
