# fish completion for kvup: kvup completion fish | source
function __kvup_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l typed (commandline -ct)
    # As the shell would read it; a quote may still be open.
    set -l current (string unescape -- "$typed"; or string unescape -- "$typed\""; or string unescape -- "$typed'")
    test (count $current) -eq 1; or set current "$typed"
    set -l lines (kvup __complete -- $words "$current" </dev/null 2>/dev/null)
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
complete -c kvup -f -a '(__kvup_complete)'
