package ledger

// Facts are what decides whether the program that a wait in a pane is for has ended.
type Facts struct {
	Typed     bool   // this server has typed into the pane
	Submitted bool   // a line, with Enter, at the prompt of a shell
	AtPrompt  bool   // all that it typed was typed at the prompt of a shell
	Prompt    Prompt // what the pane shows now
	Reported  bool   // an answer has reported the end of what was typed
	// Foreign is set if a program ran when the wait began.
	Foreign bool
}

// Prompt is what a pane shows of its shell's prompt.
type Prompt int

const (
	// NoPrompt: a program or the shell itself runs, or what runs is not known.
	NoPrompt Prompt = iota
	// HalfTyped: the shell waits for the rest of a line.
	HalfTyped
	// EmptyPrompt: the shell has read all that was typed, and waits for a line.
	EmptyPrompt
)

// Verdict is what the facts say of the program that a wait is for.
type Verdict int

const (
	// Runs: it may still run.
	Runs Verdict = iota
	// Ended: it has ended, and no answer has said so.
	Ended
	// Nothing: the wait is for no program whose end could be told apart from that of
	// another.
	Nothing
)

// Verdict judges the facts. At an empty prompt, what read the keys of this server is over,
// whether it was a line of the shell's or a program that ran when they were typed, and
// whether or not a look saw it run. Where this server has typed nothing, the program that ran
// when the wait began is the one it is for. Any other program, such as one that the user or a
// prompt starts, is not the wait's.
func (f Facts) Verdict() Verdict {
	mine := f.Typed && !f.Reported && (f.Submitted || !f.AtPrompt) || !f.Typed && f.Foreign
	switch {
	case !mine:
		return Nothing
	case f.Prompt == EmptyPrompt:
		return Ended
	}
	return Runs
}

// FactsOf returns the facts of a pane with a line, if one is known.
func FactsOf(line Line, known bool, now Prompt, foreign bool) Facts {
	return Facts{
		Typed: known, Submitted: !line.Submitted.IsZero(), AtPrompt: line.AtPrompt, Prompt: now, Reported: line.Reported, Foreign: foreign,
	}
}
