package cli

import (
	"errors"
	"strings"

	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/hint"
)

// flags maps options in package swap's errors to flags.
var flags = map[hint.Option]string{
	hint.OptionScope:  "--scope",
	hint.OptionServer: "--server",
	hint.OptionEntry:  "--entry",
	hint.OptionMode:   "--mode",
	hint.OptionRef:    "--ref",
	hint.OptionPR:     "--pr",
	hint.OptionEnv:    "--env",
	hint.OptionURL:    "--url",

	hint.OptionTimeout: "--timeout",
}

// advice names the flag that a hint is about. arg is the value to give it, or "".
func advice(h hint.Hint, arg string) string {
	if arg != "" {
		arg = ask.CommandLine([]string{arg})
	}
	switch h {
	case hint.ForceWrite:
		return "use --force to edit it anyway; it stays read-only"
	case hint.ForceEdited:
		return "use --force to put back what the swap changed"
	case hint.ForceForget:
		return "use --force to forget it, and keep the entry as it is"
	case hint.Client:
		return "name one with --cli"
	case hint.Narrower:
		return "check --cli, --scope, --server and --repo"
	case hint.Entry:
		return "choose one with --entry"
	case hint.Server:
		if arg != "" {
			return "pass --server " + arg + " to use that name"
		}
		return "name it with --server"
	case hint.UserScope:
		return "use --scope user to replace that one"
	case hint.AllProjects:
		return "leave out --scope, or use --scope user"
	case hint.KeepEnv:
		return "use --keep-env to copy that"
	case hint.Env:
		return "if it needs a variable, use-local --env NAME=VALUE writes it into the entry"
	case hint.Timeout:
		return "if it needs longer, as a first build may, use --timeout, as in --timeout 5m"
	case hint.Command:
		return "run any command with --server NAME -- COMMAND"
	case hint.Build:
		return "if it takes too long to build, use-local --mode build writes a compiled program"
	case hint.Repo:
		if arg != "" {
			return "a directory above has one: --repo " + arg
		}
		return "choose another directory with --repo"
	case hint.Elsewhere:
		return "cd to another, or give --repo an absolute path"
	}
	return ""
}

// explain returns an error's text with the relevant and helpful flags. They come before
// what a program has printed on further lines.
func explain(err error) string {
	text := err.Error()
	var usage *hint.UsageError
	if errors.As(err, &usage) && usage.Error() == text && usage.Option != "" {
		text = flags[usage.Option] + " " + usage.Msg
	}
	var h *hint.Error
	for errors.As(err, &h) {
		line, rest, more := strings.Cut(text, "\n")
		if text = line + "; " + advice(h.Hint, h.Arg); more {
			text += "\n" + rest
		}
		err = h.Err
	}
	return text
}
