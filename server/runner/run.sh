{{- /*
This is what a shell reads to run a command: the file run. Its lines become one, and @ what
makes a builtin of a word: see dialect. Its variables are those of script.run.
*/ -}}

{{- define "print" -}}
if @test -p /dev/stdout; then @printf {{.}}; else @printf {{.}} >|/dev/tty; fi
{{- end -}}

{{- /* Only with noclobber does the redirection fail if the file exists. */ -}}
{{- define "claim" -}}
{ case $- in *C*) @: >{{.Dir}}/begun;; *) @set -C && @: >{{.Dir}}/begun && @set +C;; esac; } 2>/dev/null || @exit;
{{if .Own}}{ IFS= @read -r _tmux_mcp_process <{{.Own}}; } 2>/dev/null;{{end}}
{ @printf '\033[2m+ %s\033[m\n' {{.Shown}}; } 2>/dev/null;
@trap : INT QUIT;
{{end -}}

{{- /* zsh would keep the traps in a subshell. By the time that the process is noted, an
interrupt ends the command, and not what runs it. */ -}}
{{- define "start" -}}
@trap - INT QUIT;
{{if .Own}}{ @printf %s "$_tmux_mcp_process" >|{{.Dir}}/process; @unset _tmux_mcp_process; } 2>/dev/null;{{end}}
{ {{template "print" .Begin}}; } 2>/dev/null;
{{end -}}

{{- /* $1 is the status, and $2 what the shell gets. The file run exists while a server is
waiting, which will end the recorder. */ -}}
{{- define "end" -}}
{{template "print" .End}};
@printf %d "$1" 1<>{{.Dir}}/status;
{{if .Recorded}}
if @test -e {{.Dir}}/run && @kill -s 0 {{.Server}}; then @:;
elif IFS= @read -r _tmux_mcp_process <{{.Dir}}/recorder && @test "/proc/$_tmux_mcp_process/cwd" -ef {{.Dir}};
then @kill -s USR1 "$_tmux_mcp_process"; fi;
{{end}}
@exit "$2"; } 2>/dev/null
{{- end -}}

{{- if .POSIX -}}
{{.Enter}} ( {{.Plain}}
{{template "claim" .}}
case $- in
*e*) @set +e; ( @set -e; {{template "start" .}} @. {{.Dir}}/command ); { @set -- "$?" 0; {{template "end" .}};;
*) ( {{template "start" .}} @. {{.Dir}}/command ); { @set -- "$?" "$?"; {{template "end" .}};;
esac )
{{- else -}}
{{template "claim" .}}
( {{template "start" .}} @exec {{.Shell}} {{.Dir}}/command ); { @set -- "$?" "$?"; {{template "end" .}}
{{- end}}
