package tmux

import (
	"crypto/rand"
	"strconv"
	"strings"
)

// Limits of what [Inert] takes, besides its cost. tmux expands formats
// in its only thread, so one that takes long stops every session.
const (
	maxInertBytes = 2000
	maxInertDepth = 20
	maxInertWidth = 1000 // of = and p, in cells
	maxInertText  = 100  // of an argument or pattern, in bytes
	maxInertStars = 4    // in a glob; with some C libraries each multiplies the time
)

// Inert rewrites a format that is not trusted as one that can do nothing but
// read what is no secret, and read it cheaply: it runs no command, shows no paste
// buffer and no environment, and keeps a tmux of version v neither busy nor
// growing. Percent signs are text. A format that it does not understand whole, or
// that does more, is an [ErrArgument] that says why.
//
// The format is not searched for what is bad. It is parsed, and what tmux gets is
// written anew from the parts that are known: names, loops, comparisons and the
// other modifiers, with every character of text that means something to tmux as a
// number. These are not taken:
//
//   - #(…), which runs a shell command, and E: and T:, which expand a value as a
//     format, whoever made it;
//   - names that are neither a [Token] of this version, nor an option of it, nor an
//     @option: tmux looks those up in its environment. Nor tokens of paste buffers;
//   - formats in the arguments of a modifier; the arguments of s are expanded twice;
//   - R: (repeat), O: and V:, the loops over options and environments, A: and I:.
//
// The cost of the whole is estimated, at worst, before tmux sees it: 80 ms of
// tmux's time and 1 MB of text, where a loop runs 500 rounds, the values are as
// long as the format affords, up to 16 kB, and screens have 20,000 cells. What the
// estimate takes for granted is made sure of:
//
//   - loops are inside each other only as S: W: P:, in this order;
//   - regular expressions have at most 100 bytes, 12 of . [ ] | * + ? and of these 4
//     of * + ?, which follow a single character or class; {…} and back references
//     are not taken, nor * + and ? in C/r:, whose lines may be of any length;
//   - globs have at most 4 stars, and patterns hold text, numbers and ids only;
//   - tmux itself compares the lengths of values and screens with the estimate, and
//     expands to a mark for [CheckInert] where they are larger.
func Inert(format string, v Version) (Format, error) {
	if len(format) > maxInertBytes {
		return "", argumentError("a format of more than %d bytes", maxInertBytes)
	}
	p := inertParser{s: format, v: v}
	seq, err := p.sequence("")
	if err != nil {
		return "", err
	}
	limit, err := cheapest(seq)
	if err != nil {
		return "", err
	}
	w := inertWriter{v: v, limit: limit}
	w.scope(seq)
	return Format(w.String()), nil
}

// inertMark is what a format expands to whose values or screens are too large for
// it. No program on a screen can know it.
var inertMark = "inert" + rand.Text()

// CheckInert is an [ErrArgument] if text, that a format of [Inert] expanded to,
// lacks values because they are too long.
func CheckInert(text string) error {
	_, after, found := strings.Cut(text, inertMark)
	if !found {
		return nil
	}
	limit, _, _ := strings.Cut(after, ";")
	return argumentError("its values are longer than the %s bytes that this format affords in all, or it searches a screen of more than %d cells; "+
		"a format without regular expressions and loops affords more", limit, inertCells)
}

// inertNode is a part of a format: one of the types below.
type inertNode interface {
	write(*inertWriter)
	// cost is the size of what it expands to at worst. The price is added.
	cost(*inertCost) inertSize
}

type (
	inertText string

	// inertValue is a name or, if that is empty, what its body expands to, with
	// the modifiers of either.
	inertValue struct {
		modifiers []inertModifier
		name      string
		body      []inertNode
	}

	// inertChoice is a conditional. The last operand is the value if no condition
	// is true.
	inertChoice struct {
		modifiers []inertModifier
		operands  [][]inertNode
	}

	// inertOperator is a loop, a comparison or another modifier that says what is
	// done with its operands.
	inertOperator struct {
		modifiers []inertModifier // the others
		op        inertModifier
		operands  [][]inertNode
	}
)

type inertModifier struct {
	name string
	args []string
}

// inertRule says what a modifier may look like.
type inertRule struct {
	// operands is how many an operator takes at least and at most; none for what
	// modifies a value.
	least, most int
	// loop is set for operators that expand their operands many times.
	loop bool
	// size is how many bytes other operators expand to, at most.
	size float64
	// args checks the arguments; nil takes none.
	args  func(args []string, v Version) error
	since Version
}

// inertRules are the modifiers that are known to only read.
var inertRules = map[string]inertRule{
	"=": {args: widthArgs}, "p": {args: widthArgs}, "n": {}, "w": {}, "b": {}, "d": {},
	"t": {args: timeArgs}, "q": {args: quoteArgs}, "s": {args: substituteArgs},

	"a": {least: 1, most: 1}, "l": {least: 1, most: 1},
	"c": {least: 1, most: 1, size: 6, since: Version{Major: 3, Minor: 3}},
	"S": {least: 1, most: 2, loop: true, args: orderArgs}, "W": {least: 1, most: 2, loop: true, args: orderArgs},
	"P": {least: 1, most: 2, loop: true, args: orderArgs},
	"L": {least: 1, most: 1, loop: true, args: orderArgs, since: Version{Major: 3, Minor: 4}},
	"N": {least: 1, most: 1, size: 1, args: letters("ws")},
	"C": {least: 1, most: 1, size: 10, args: letters("ri")}, "m": {least: 2, most: 2, size: 1, args: letters("ri")},
	"==": {least: 2, most: 2, size: 1}, "!=": {least: 2, most: 2, size: 1}, "<": {least: 2, most: 2, size: 1}, ">": {least: 2, most: 2, size: 1},
	"<=": {least: 2, most: 2, size: 1}, ">=": {least: 2, most: 2, size: 1}, "e": {least: 2, most: 2, size: 330, args: expressionArgs},
	"||": {least: 1, most: maxInertDepth, size: 1}, "&&": {least: 1, most: maxInertDepth, size: 1},
	"!": {least: 1, most: 1, size: 1}, "!!": {least: 1, most: 1, size: 1},
}

// refusedModifiers are those with a reason of their own.
var refusedModifiers = map[byte]string{
	'E': "E: expands a value as a format", 'T': "T: expands a value as a format", 'R': "R: repeats without measure",
	'O': "O: loops over options", 'V': "V: loops over an environment", 'A': "A: animates the status line",
	'I': "I: looks into a client",
}

// letters takes flags of one letter each.
func letters(known string) func([]string, Version) error {
	return func(args []string, _ Version) error {
		if len(args) > 1 || len(args) == 1 && strings.Trim(args[0], known) != "" {
			return argumentError("the flags there are %q", known)
		}
		return nil
	}
}

func orderArgs(args []string, v Version) error {
	if since := (Version{Major: 3, Minor: 6}); len(args) > 0 && !v.Has(since) {
		return &UnsupportedError{What: "the order of a loop", Since: since, Have: v}
	}
	return letters("intrz")(args, v)
}

func quoteArgs(args []string, v Version) error {
	for letter, since := range map[string]Version{"a": {Major: 3, Minor: 7}, "s": {Major: 3, Minor: 8}} {
		if len(args) == 1 && args[0] == letter && !v.Has(since) {
			return &UnsupportedError{What: "q/" + letter + ":", Since: since, Have: v}
		}
	}
	return letters("ehas")(args, v)
}

func widthArgs(args []string, _ Version) error {
	if len(args) == 0 || len(args) > 2 {
		return argumentError("= and p take a width, and = what marks a cut")
	}
	if n, err := strconv.Atoi(args[0]); err != nil || n > maxInertWidth || n < -maxInertWidth {
		return argumentError("a width is a number up to %d", maxInertWidth)
	}
	return nil
}

func timeArgs(args []string, v Version) error {
	switch {
	case len(args) == 0 || len(args) == 1 && args[0] == "p":
		return nil
	case len(args) == 1 && (args[0] == "r" || args[0] == "d"):
		if since := (Version{Major: 3, Minor: 8}); !v.Has(since) {
			return &UnsupportedError{What: "t/" + args[0] + ":", Since: since, Have: v}
		}
		return nil
	case len(args) != 2 || args[0] != "f":
		return argumentError("t takes p, r, d, or f and a time format")
	}
	// As tmux's manual writes it, for formats that pass strftime before.
	args[1] = strings.ReplaceAll(args[1], "%%", "%")
	for rest := args[1]; ; {
		_, after, found := strings.Cut(rest, "%")
		if !found {
			return nil
		}
		if after == "" || after[0]|0x20 < 'a' || after[0]|0x20 > 'z' {
			return argumentError("a time format has letters after its percent signs")
		}
		rest = after[1:]
	}
}

func substituteArgs(args []string, _ Version) error {
	if len(args) < 2 || len(args) > 3 || len(args) == 3 && args[2] != "i" && args[2] != "" {
		return argumentError("s takes a pattern, what to put in its place, and the flag i")
	}
	// tmux expands both once more.
	if strings.Contains(args[0]+args[1], "#") {
		return argumentError("a # in s, which tmux would expand")
	}
	_, err := shapeOf(args[0])
	return err
}

func expressionArgs(args []string, _ Version) error {
	const operators = " + - * / % m == != < > <= >= "
	if len(args) < 1 || len(args) > 3 || args[0] == "" || !strings.Contains(operators, " "+args[0]+" ") {
		return argumentError("e takes one of%s", operators)
	}
	if len(args) >= 2 && args[1] != "" && args[1] != "f" {
		return argumentError("the flag of e is f")
	}
	if len(args) == 3 && (len(args[2]) != 1 || args[2] < "0" || args[2] > "9") {
		return argumentError("the precision of e is a digit")
	}
	return nil
}
