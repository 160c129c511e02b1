# fish completion for kvup: kvup completion fish | source
function __kvup_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    set -l lines (kvup __complete -- $words "$current" 2>/dev/null)
    if test (count $lines) -eq 1; and test "$lines[1]" = ':0'
        __fish_complete_path "$current"
    else
        string match -v ':*' -- $lines
    end
end
complete -c kvup -f -a '(__kvup_complete)'
