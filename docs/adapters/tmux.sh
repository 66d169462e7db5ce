#!/bin/sh
# An adapter with which mcp-conform tests tmux's own command line: what can be done without a
# wrapper. It needs jq, 1.6 or later. docs/adapters.md has the protocol.
#
#     mcp-conform --api docs/adapters/tmux.sh

exec 3>&1 1>&2 # standard output is for messages
jq --version && work=$(mktemp -d) || exit
trap 'rm -rf "$work"' EXIT
trap exit HUP INT TERM

known='protocol tmux socket version target format kind within filter pattern syntax ignore_case pane
    keys literal reset repeat pending command dir stderr background delay commands name args session window'

run() { "$tmux" -S "$socket" "$@" >"$work/out" 2>"$work/err" </dev/null; }
not_offered() { echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":'"$1"',"message":"'"$2"'"}}' >&3; }

while IFS= read -r request; do
    # Parameters become variables, but a list becomes the positional parameters.
    unset target within filter format literal reset repeat pending dir stderr background delay commands unknown
    eval "$(printf '%s\n' "$request" | jq -r --arg known "$known" '(.params | to_entries[] |
        if .key | IN($known | splits("\\s+")) | not then @sh "unknown=\(.key)"
        elif .value | type == "array" then @sh "set -- \(.value)"
        else .key + @sh "=\(.value)" end), @sh "id=\(.id) verb=\(.method)"')"
    : >"$work/out" >"$work/err"
    result={} text='{value: $out}'
    case ${unknown+unknown }$verb in
    describe) result='{protocol: 1, name: "command-line", version: "", language: "sh"}' ;;
    open) ;;
    display)
        result=$text
        case $target in /* | client-*) flag=-c ;; *) flag=-t ;; esac # -c is for a client
        run display-message -p ${target:+"$flag" "$target"} -- "$format" ;;
    list) # lines in the format, or rows with one field, which identifies the object
        case $kind in buffers | clients) field=${kind%s}_name ;; *) field=${kind%s}_id ;; esac
        case $kind$within in panes | windows) all=-a ;; panes\$*) all=-s ;; *) all= ;; esac
        result="{rows: (\$out / \"\\n\" | .[:-1] | map({$field: .}))}"
        if [ "${format+set}" ]; then result=$text; else format="#{$field}"; fi
        run "list-$kind" $all ${within:+-t "$within"} ${filter+-f "$filter"} -F "$format" ;;
    send_keys) run send-keys -t "$pane" ${literal:+-l} ${reset:+-R} ${repeat:+-N "$repeat"} -- "$@" ;;
    reset) run send-keys -R -t "$pane" ';' clear-history -t "$pane" ;;
    capture) result=$text; run capture-pane -p -t "$pane" ${pending:+-P} ;;
    run_shell)
        result='{value: $out, exit_code: $status}'
        run run-shell ${dir:+-c "$dir"} ${stderr:+-E} ${background:+-b} ${delay:+-d "$delay"} \
            ${commands:+-C} ${target:+-t "$target"} -- "$command" ;;
    new_session)
        result='{row: {session_id: $out[:-1]}}'
        run new-session -d -P -F '#{session_id}' -s "$name" ;;
    select_window) run select-window -t "$session:$window" ;;
    last_window) run last-window -t "$session" ;;
    unknown*) not_offered -32602 "no argument $unknown of $verb"; continue ;;
    *) # it has no objects: none with fields (get), none with commands of their own (command)
        not_offered -32601 "no $verb"; continue ;;
    esac
    # A command of tmux that fails writes why; one of run-shell only has an exit status.
    jq -cn --argjson id "$id" --argjson status $? --rawfile out "$work/out" --rawfile err "$work/err" \
        '{jsonrpc: "2.0", id: $id} + if $err == "" then {result: '"$result"'} else
        {error: {code: 1, message: $err[:-1], data: {stderr: $err[:-1], exit_code: $status}}} end' >&3
done
