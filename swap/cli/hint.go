package cli

import (
	"errors"

	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
)

// flags are the flags of the options that package swap's errors are about.
var flags = map[swap.Option]string{
	swap.OptionScope: "--scope",
	swap.OptionMode:  "--mode",
	swap.OptionRef:   "--ref",
	swap.OptionPR:    "--pr",
	swap.OptionEnv:   "--env",
}

// advice names the flag that a hint is about. arg is the value to give it, or "".
func advice(h swap.Hint, arg string) string {
	if arg != "" {
		arg = ask.CommandLine([]string{arg})
	}
	switch h {
	case swap.HintForceWrite:
		return "use --force to edit it anyway; it stays read-only"
	case swap.HintForceEdited:
		return "use --force to put back what the swap changed"
	case swap.HintClient:
		return "name one with --cli"
	case swap.HintNarrower:
		return "check --cli, --scope and --server"
	case swap.HintEntry:
		return "choose one with --entry"
	case swap.HintServer:
		if arg != "" {
			return "pass --server " + arg + " to use that name"
		}
		return "name it with --server"
	case swap.HintUserScope:
		return "use --scope user to replace that one"
	case swap.HintKeepEnv:
		return "use --keep-env to copy that"
	case swap.HintEnv:
		return "if it needs a variable, use-local --env NAME=VALUE writes it into the entry"
	case swap.HintBuild:
		return "if it takes too long to build, use-local --mode build writes a compiled program"
	case swap.HintRepo:
		if arg != "" {
			return "a directory above has one: --repo " + arg
		}
		return "choose another directory with --repo"
	}
	return ""
}

// explain is an error's text, with the flags that it is about and that would help.
func explain(err error) string {
	text := err.Error()
	if usage, ok := err.(*swap.UsageError); ok && usage.Option != "" {
		text = flags[usage.Option] + " " + usage.Msg
	}
	var hint *swap.HintError
	for errors.As(err, &hint) {
		text += "; " + advice(hint.Hint, hint.Arg)
		err = hint.Err
	}
	return text
}
