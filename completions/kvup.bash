# bash completion for kvup: source <(kvup completion bash)
_kvup() {
  local line directive=0 prefix='' typed="${COMP_LINE:0:COMP_POINT}"
  local -a words
  read -ra words <<<"$typed"
  case "$typed" in *[[:space:]]) words+=('') ;; esac
  local current="${words[${#words[@]}-1]}"
  # Where bash splits words at "=", it replaces only what follows it.
  case "$COMP_WORDBREAKS" in *=*) case "$current" in --*=*) prefix="${current%%=*}=" ;; esac ;; esac
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :*) directive="${line#:}" ;;
      *) line="${line%%$'\t'*}"; COMPREPLY+=("${line#"$prefix"}") ;;
    esac
  done < <(kvup __complete -- "${words[@]:1}" 2>/dev/null)
  if [ "${#COMPREPLY[@]}" -eq 1 ] && [ "${COMPREPLY[0]%=}" != "${COMPREPLY[0]}" ]; then
    compopt -o nospace 2>/dev/null
  fi
  if [ "${#COMPREPLY[@]}" -eq 0 ] && [ "$directive" = 0 ]; then compopt -o default 2>/dev/null; fi
}
complete -F _kvup kvup
