package tmux

import (
	"maps"
	"strings"
)

// What a format may cost tmux, by the estimate below: less than what the clients
// of a server should ever notice.
const (
	maxInertMicros = 80_000
	maxInertOutput = 1 << 20
	// inertRounds is how often a loop is taken to run: loops inside each other go
	// over the panes of a server, all of them together.
	inertRounds = 500
	// inertCells is the largest screen that C: searches.
	inertCells = 20_000
	// The values that a format reads may have this many bytes at most, and no
	// format is taken that allows fewer than the least.
	mostInertValue, leastInertValue = 16 << 10, 64
)

// inertCost estimates what a format costs tmux at worst: the microseconds that
// its only thread is busy, and the bytes that it has in memory. The prices were
// measured on every supported version, with the values and screens that were
// found to be the worst.
type inertCost struct {
	value         float64 // bytes of all values that a scope reads, at most
	rounds        float64
	micros, bytes float64
	most          float64 // the largest price so far, and
	mostFor       string  // for what
}

// inertSize is how many bytes something expands to at most: a number, and how
// often each value is in it whose length is not known.
type inertSize struct {
	fixed float64
	times map[string]float64
}

// bytes is the size when the values together are as long as they may be.
func (s inertSize) bytes(c *inertCost) float64 {
	most := 0.0
	for _, n := range s.times {
		most = max(most, n)
	}
	return s.fixed + most*c.value
}

// with joins two sizes, of what is there together or instead of each other.
func (s inertSize) with(o inertSize, join func(a, b float64) float64) inertSize {
	sum := inertSize{join(s.fixed, o.fixed), maps.Clone(s.times)}
	for name, n := range o.times {
		if sum.times == nil {
			sum.times = map[string]float64{}
		}
		sum.times[name] = join(sum.times[name], n)
	}
	return sum
}

func plus(a, b float64) float64   { return a + b }
func larger(a, b float64) float64 { return max(a, b) }

// cheapest is the longest that values may be for the format to be cheap enough.
func cheapest(seq []inertNode) (limit int, err error) {
	for limit = mostInertValue; limit >= leastInertValue; limit /= 2 {
		c := inertCost{value: float64(limit), rounds: 1}
		size := c.sequence(seq).bytes(&c)
		c.spend("its text", size/16, size)
		switch {
		case c.bytes > maxInertOutput:
			err = argumentError("it could take %.0f kB of memory, with %d rounds for a loop and %d bytes for its values; the limit is %d kB",
				c.bytes/1024, inertRounds, limit, maxInertOutput/1024)
		case c.micros > maxInertMicros:
			err = argumentError("it could keep tmux busy for %.0f ms, with %d rounds for a loop, most of it for %s; the limit is %d ms",
				c.micros/1000, inertRounds, c.mostFor, maxInertMicros/1000)
		default:
			return limit, nil
		}
	}
	return 0, err
}

// spend adds the price of a part that makes so many bytes.
func (c *inertCost) spend(what string, micros, bytes float64) {
	micros = (micros + bytes/500) * c.rounds
	c.micros, c.bytes = c.micros+micros, c.bytes+bytes
	if micros > c.most {
		c.most, c.mostFor = micros, what
	}
}

// sequence is the size of what a sequence expands to. It adds the price.
func (c *inertCost) sequence(seq []inertNode) (size inertSize) {
	for _, n := range seq {
		size = size.with(n.cost(c), plus)
	}
	return size
}

func (n inertText) cost(*inertCost) inertSize { return inertSize{fixed: float64(len(n))} }

func (n inertValue) cost(c *inertCost) inertSize {
	size := c.sequence(n.body)
	if n.name != "" {
		price := 2.0
		if strings.HasPrefix(n.name, "pane_current_") {
			price = 8 // a look into /proc
		}
		if strings.HasSuffix(n.name, "_bytes") {
			price = 100 // a look at every line of the history
		}
		if isSmall(n.name) {
			size.fixed = 64
		} else {
			size.times = map[string]float64{n.name: 1}
			price *= 2 // it is read to know its length, too
		}
		c.spend("#{"+n.name+"}", price, size.bytes(c))
	}
	return c.modified(size, n.modifiers)
}

func (n inertChoice) cost(c *inertCost) (size inertSize) {
	for i, o := range n.operands {
		s := c.sequence(o)
		if i%2 == 1 || i == len(n.operands)-1 {
			size = size.with(s, larger)
		}
		c.spend("conditions", 2, s.bytes(c))
	}
	return c.modified(size, n.modifiers)
}

func (n inertOperator) cost(c *inertCost) inertSize {
	rule := inertRules[n.op.name]
	outermost := rule.loop && c.rounds == 1
	if outermost {
		c.rounds = inertRounds
	}
	var size inertSize
	var last float64
	for _, o := range n.operands {
		s := c.sequence(o)
		last = s.bytes(c)
		size = size.with(s, plus)
	}
	flags, total := strings.Join(n.op.args, ""), size.bytes(c)
	text, _ := plainText(n.operands[0])
	isRegexp := strings.Contains(flags, "r")
	switch {
	case rule.loop:
		c.spend(n.op.name+":", 5, 0)
		if len(size.times) > 0 {
			c.spend(n.op.name+":", 7, 0) // to compare their lengths
		}
		if outermost {
			// tmux looks for the end of the text before it adds that of a round.
			c.rounds = 1
			size = inertSize{fixed: total * inertRounds}
			c.spend("the text of "+n.op.name+":", size.fixed*inertRounds/2/1000, size.fixed)
		}
		return c.modified(size, n.modifiers)
	case n.op.name == "C" && isRegexp:
		shape, _ := shapeOf(text)
		price := 12_000 + 5_000*float64(shape.wild)
		if strings.Contains(flags, "i") {
			price *= 1.5
		}
		c.spend("C/r:", price, 0)
	case n.op.name == "C":
		wild := len(text) - len(strings.NewReplacer("*", "", "[", "", "?", "").Replace(text))
		c.spend("C:", 8_000+10_000*float64(wild), total)
	case n.op.name == "m" && isRegexp:
		c.match(text, last)
	case n.op.name == "m":
		c.spend("m:", 2+total/4, 4*total)
	default:
		c.spend(n.op.name+":", 4, total)
	}
	return c.modified(inertSize{fixed: rule.size}, n.modifiers)
}

// match adds the price of a regular expression on so many bytes. The matcher of
// the C library begins anew at every byte, and is slow where characters of more
// than one byte may match.
func (c *inertCost) match(pattern string, size float64) {
	shape, _ := shapeOf(pattern)
	reach := min(size, 4*float64(len(pattern)))
	if shape.unbounded {
		reach = size
	}
	starts := size
	if shape.anchored {
		starts = 5 // for what is new to the matcher
	}
	price := 0.3 * starts * reach
	if shape.wild == 0 && !shape.unbounded {
		price = 0.05 * size
	}
	c.spend("regular expressions", 8+3*float64(shape.wild)+price, 8*size)
}

// modified is the size of a value after its modifiers, in tmux's order.
func (c *inertCost) modified(value inertSize, modifiers []inertModifier) inertSize {
	if len(modifiers) == 0 {
		return value
	}
	size := value.bytes(c)
	for _, stage := range []string{"qtbdc", "s", "=", "p", "nw"} {
		for _, m := range modifiers {
			if !strings.Contains(stage, m.name) {
				continue
			}
			price := 2.0
			if strings.Contains("=pw", m.name) {
				price += size / 8 // the width of each character
			}
			c.spend(m.name+":", price, size)
			switch m.name {
			case "q":
				size = 4*size + 2
			case "t":
				size = 512
			case "s":
				c.match(m.args[0], size)
				with := float64(strings.Count(m.args[1], `\`))
				size += (size+1)*float64(len(m.args[1])) + with*size
			case "=":
				size += float64(len(strings.Join(m.args[1:], "")))
			case "p":
				size += maxInertWidth
			case "n", "w":
				size = 20
			}
		}
	}
	return inertSize{fixed: size}
}

// isSmall reports whether the value of a name is short whatever programs do: a
// number, a flag, a time or an id.
func isSmall(name string) bool {
	t := tokensByName()[name]
	return t != nil && t.Type != "string" && !strings.HasPrefix(t.Type, "[]")
}

// Limits of regular expressions, in POSIX syntax.
const (
	maxInertWild        = 12
	maxInertQuantifiers = 4
)

// regexpShape is what counts for the price of a regular expression.
type regexpShape struct {
	wild       int  // how much in it may match in more ways than one
	unbounded  bool // * or +
	quantified int
	anchored   bool
}

// shapeOf is the shape of a regular expression. It refuses what makes the C
// library's compiler or matcher use time or memory without bound.
func shapeOf(pattern string) (s regexpShape, err error) {
	if pattern == "" || len(pattern) > maxInertText {
		return s, argumentError("a pattern has 1 to %d bytes", maxInertText)
	}
	single := false // whether what is before is one character or class
	for i := 0; i < len(pattern); i++ {
		before := single
		single = false
		switch c := pattern[i]; c {
		case '{':
			return s, argumentError(`a { in a regular expression; write \{ for the character`)
		case '\\':
			if i++; i < len(pattern) && pattern[i] >= '0' && pattern[i] <= '9' {
				return s, argumentError("a back reference in a regular expression")
			}
			if i < len(pattern) && strings.IndexByte("wWsS", pattern[i]) >= 0 {
				s.wild++
			}
			single = true
		case '.':
			s.wild++
			single = true
		case '[':
			n := classLength(pattern[i:])
			if n < 0 {
				return s, argumentError("a [ without its ] in a regular expression")
			}
			s.wild++
			i += n - 1
			single = true
		case '|':
			s.wild++
		case '*', '+', '?':
			if !before {
				return s, argumentError("a %c in a regular expression that follows no single character or [ ]", c)
			}
			s.wild++
			s.quantified++
			s.unbounded = s.unbounded || c != '?'
		case '(', ')', '^', '$':
		default:
			single = true
		}
	}
	if s.wild > maxInertWild || s.quantified > maxInertQuantifiers {
		return s, argumentError("a regular expression with more than %d of . [ ] | * + ?, or %d of * + ?", maxInertWild, maxInertQuantifiers)
	}
	s.anchored = pattern[0] == '^' && !strings.Contains(pattern, "|")
	return s, nil
}

// classLength is how long the [ ] is that a pattern begins with, or -1.
func classLength(p string) int {
	i := 1
	if strings.HasPrefix(p[i:], "^") {
		i++
	}
	if strings.HasPrefix(p[i:], "]") {
		i++
	}
	for i < len(p) && p[i] != ']' {
		if p[i] == '[' && i+1 < len(p) && strings.IndexByte(":.=", p[i+1]) >= 0 {
			end := strings.Index(p[i+2:], p[i+1:i+2]+"]")
			if end < 0 {
				return -1
			}
			i += end + 3
		}
		i++
	}
	if i >= len(p) {
		return -1
	}
	return i + 1
}
