import { scriptText } from './script-text.ts'

/** fish 3 and later, which escapes what it puts on the line. */
export const fishScript = scriptText`# fish completion for NAME: NAME completion fish | source
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
