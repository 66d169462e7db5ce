package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/tmux"
)

// Config says how a server behaves. It is fixed when the server is made: the environment is
// not read afterwards. The zero Config is a server of tier readonly on the user's default
// tmux server; [FromEnv] returns the usual one.
type Config struct {
	// Tmux is the tmux program, a path or a name on PATH; "tmux" by default.
	Tmux string
	// SocketName and SocketPath are tmux's -L and -S for calls without a socket_name. With
	// neither, the caller's own tmux server is used if there is one, otherwise tmux's
	// default.
	SocketName, SocketPath string
	// Pin refuses calls that name another socket.
	Pin bool
	// Tier limits what tools may do; an unknown one is Readonly.
	Tier Tier
	// Toolsets restricts the tools to these sets; all if empty.
	Toolsets []string
	// Selection restricts the tools further, in terms of the libtmux family; all if nil.
	Selection *Selection
	// SuppressHistory is the default of run_command's parameter suppress_history.
	SuppressHistory bool
	// WaitMax bounds every waiting tool; 300 s if zero, and at most 300 s.
	WaitMax time.Duration
	// Results is the form of results, text by default.
	Results Results
	// MaxResult bounds a result in bytes; 0 means 30,000 for text and 1,000,000 for JSON.
	MaxResult int
	// PromptsAsTools adds the tools list_prompts and get_prompt.
	PromptsAsTools bool
	// Transport is how tmux is reached; if empty, the fastest way that works.
	Transport tmux.Transport
	// Caller is the pane this process runs in.
	Caller Caller
	// Env is the environment of the tmux client, and of a tmux server that it starts; this
	// process's own if nil.
	Env []string
	// Version is this program's version.
	Version string
	// Log gets errors, and Audit one record per call. nil disables either.
	Log, Audit *slog.Logger
	// LogLevel is the level that the environment asks for. The creator of Log applies it.
	LogLevel slog.Level
}

// A variable of the environment has a name of this project's, which wins, mostly one of
// libtmux-mcp's, which is honoured, and a meaning.
type variable struct{ name, old, meaning string }

var (
	varSocket         = variable{"TMUX_MCP_SOCKET", "LIBTMUX_SOCKET", "as --socket-name"}
	varSocketPath     = variable{"TMUX_MCP_SOCKET_PATH", "LIBTMUX_SOCKET_PATH", "as --socket-path; not together with the one above"}
	varTmux           = variable{"TMUX_MCP_TMUX_BIN", "LIBTMUX_TMUX_BIN", "as --tmux"}
	varSafety         = variable{"TMUX_MCP_SAFETY", "LIBTMUX_SAFETY", "as --safety; anything unknown is readonly"}
	varToolsets       = variable{"TMUX_MCP_TOOLSETS", "LIBTMUX_MCP_TOOLSETS", "as --toolsets"}
	varTransport      = variable{"TMUX_MCP_TRANSPORT", "LIBTMUX_MCP_TRANSPORT", "as --transport"}
	varResults        = variable{"TMUX_MCP_RESULTS", "", "as --results"}
	varMaxResult      = variable{"TMUX_MCP_MAX_RESULT", "", "as --max-result"}
	varLogLevel       = variable{"TMUX_MCP_LOG_LEVEL", "FASTMCP_LOG_LEVEL", "as --log-level"}
	varHistory        = variable{"TMUX_MCP_SUPPRESS_HISTORY", "LIBTMUX_SUPPRESS_HISTORY", "1 or 0: the default of suppress_history of run_command (default 1)"}
	varWaitMax        = variable{"TMUX_MCP_WAIT_MAX_SECONDS", "LIBTMUX_MCP_WAIT_MAX_SECONDS", "the longest time that a tool waits, 1 to 300 seconds (default 300)"}
	varPromptsAsTools = variable{"TMUX_MCP_PROMPTS_AS_TOOLS", "LIBTMUX_MCP_PROMPTS_AS_TOOLS", "1 adds the tools list_prompts and get_prompt (default 0)"}

	variables = []variable{
		varSocket, varSocketPath, varTmux, varSafety, varToolsets, varTransport, varResults, varMaxResult, varLogLevel, varHistory, varWaitMax, varPromptsAsTools,
		{"LIBTMUX_TOOLSETS", "", "tools by what they do: any of " + strings.Join(familySets, ", ")},
		{"LIBTMUX_TOOLS", "", "tools to add, by their names"},
		{"LIBTMUX_EXCLUDE_TOOLS", "", "tools to leave out"},
	}
	foreign = []variable{
		{"TMUX", "TMUX_PANE", "the pane that the server runs in, whose tmux server is the default one"},
		{"TMUX_TMPDIR", "", "the directory of tmux's sockets (default /tmp)"},
		{"XDG_RUNTIME_DIR", "TMPDIR", "where tmux-mcp has the files of jobs (default /tmp)"},
		{"PATH", "", "where tmux is looked for"},
		{"HOME", "", "what ~ in arguments stands for"},
		{"PLUGIN_ROOT", "", "set by clients; a server that starts in this directory goes to HOME"},
	}
)

// Environment documents the variables that a server reads.
func Environment() string {
	var b strings.Builder
	for _, v := range slices.Concat(variables, foreign) {
		fmt.Fprintf(&b, "%s\n    %s\n", strings.TrimSuffix(v.name+", "+v.old, ", "), v.meaning)
	}
	for _, name := range slices.Sorted(maps.Keys(unobeyed)) {
		fmt.Fprintf(&b, "%s\n    refused: %s\n", name, unobeyed[name])
	}
	return b.String()
}

// knownVariables are the names of this project's and libtmux's variables that the
// environment may have; some of them to be refused.
func knownVariables() []string {
	names := slices.Collect(maps.Keys(unobeyed))
	for _, v := range variables {
		names = append(names, v.name, cmp.Or(v.old, v.name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkNames refuses variables that may be misspelt, since the server would then be less
// safe than requested: unknown ones of this project, and libtmux ones that resemble a known
// name. Other libtmux variables are libtmux's own and only cause a warning.
func checkNames(values map[string]string) (warnings []string, err error) {
	known := knownVariables()
	// Strip the prefix, which would make all names resemble each other.
	stem := func(name string) string {
		name, family := strings.CutPrefix(name, "LIBTMUX_")
		if !family {
			name = strings.TrimPrefix(name, "TMUX_MCP_")
		}
		return strings.ToLower(name)
	}
	var stems []string
	for _, name := range known {
		stems = append(stems, stem(name))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		own := strings.HasPrefix(name, "TMUX_MCP_")
		if !own && !strings.HasPrefix(name, "LIBTMUX_") || slices.Contains(known, name) {
			continue
		}
		near := nearest.Names(stem(name), stems)
		switch {
		case len(near) > 0:
			// LIBTMUX_ sorts before TMUX_MCP_.
			meant := known[slices.Index(stems, near[0])]
			if alike := "TMUX_MCP_" + strings.ToUpper(near[0]); own && slices.Contains(known, alike) {
				meant = alike
			}
			return nil, fmt.Errorf("unknown variable %s; did you mean %s?", name, meant)
		case own:
			return nil, fmt.Errorf("unknown variable %s; tmux-mcp environment lists the variables", name)
		}
		warnings = append(warnings, "unknown variable "+name+" is ignored")
	}
	return warnings, nil
}

// set returns the name that takes effect: this project's, if it is in the environment.
func (v variable) set(values map[string]string) string {
	if _, ok := values[v.name]; !ok && v.old != "" {
		if _, old := values[v.old]; old {
			return v.old
		}
	}
	return v.name
}

// WithoutSocket returns an environment without the variables that name a socket, for a
// program that is given one in another way.
func WithoutSocket(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{varSocket.name, varSocket.old, varSocketPath.name, varSocketPath.old}, name)
	})
}

// FromEnv returns the configuration requested by environment variables ("K=V"). Warnings
// report oddities that are not fatal.
func FromEnv(env []string) (cfg Config, warnings []string, err error) {
	values := make(map[string]string, len(env))
	for _, kv := range env {
		k, v, _ := strings.Cut(kv, "=")
		values[k] = v
	}
	get := func(v variable) string { return values[v.set(values)] }
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }

	if warnings, err = checkNames(values); err != nil {
		return cfg, nil, err
	}
	cfg = Config{
		Tmux: get(varTmux), SocketName: get(varSocket), SocketPath: get(varSocketPath),
		PromptsAsTools: get(varPromptsAsTools) == "1", Env: env,
	}
	if cfg.SocketName != "" && cfg.SocketPath != "" {
		return cfg, nil, fmt.Errorf("%s and %s are both set: a tmux server has one socket", varSocket.set(values), varSocketPath.set(values))
	}
	if cfg.Selection, err = selectionFrom(values); err != nil {
		return cfg, nil, err
	}
	switch tier := get(varSafety); Tier(tier) {
	case "":
		cfg.Tier = Mutating
		if cfg.Selection != nil {
			cfg.Tier = cfg.Selection.tier()
		}
	case Readonly, Mutating, Destructive:
		cfg.Tier = Tier(tier)
	default:
		warn("%s is none of readonly, mutating, destructive: the server is readonly", varSafety.set(values))
		cfg.Tier = Readonly
	}
	switch get(varHistory) {
	case "", "1":
		cfg.SuppressHistory = true
	case "0":
	default:
		return cfg, nil, fmt.Errorf("%s must be 0 or 1", varHistory.set(values))
	}
	cfg.WaitMax = defaultWaitMax
	if s := get(varWaitMax); s != "" || isSet(values, varWaitMax) {
		sec, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(sec, 0) || math.IsNaN(sec) {
			warn("%s is not a number: waits are bounded to %v", varWaitMax.set(values), defaultWaitMax)
		} else {
			cfg.WaitMax = time.Duration(min(max(sec, 1), maxWait.Seconds()) * float64(time.Second))
		}
	}
	if s := get(varToolsets); s != "" {
		if cfg.Toolsets, err = ParseToolsets(s); err != nil {
			return cfg, nil, fmt.Errorf("%s: %w", varToolsets.set(values), err)
		}
	}
	if cfg.Results, err = ParseResults(get(varResults)); err != nil {
		return cfg, nil, fmt.Errorf("%s: %w", varResults.name, err)
	}
	if s := get(varMaxResult); s != "" {
		if cfg.MaxResult, err = strconv.Atoi(s); err == nil {
			err = CheckMaxResult(cfg.MaxResult)
		} else {
			err = errors.New("must be a number of bytes")
		}
		if err != nil {
			return cfg, nil, fmt.Errorf("%s: %w", varMaxResult.name, err)
		}
	}
	if cfg.Transport, err = tmux.ParseTransport(get(varTransport)); err != nil {
		return cfg, nil, fmt.Errorf("%s: %w", varTransport.set(values), err)
	}
	cfg.LogLevel = slog.LevelWarn
	if s := get(varLogLevel); s != "" {
		if cfg.LogLevel, err = ParseLogLevel(s); err != nil {
			warn("%s: %v", varLogLevel.set(values), err)
			err = nil
		}
	}
	cfg.Caller = callerOf(values, ancestors())
	cfg.Env = withTmpdir(env, values, cfg.Caller)
	return cfg, warnings, err
}

const defaultWaitMax = maxWait

func isSet(values map[string]string, v variable) bool {
	_, ok := values[v.name]
	_, old := values[v.old]
	return ok || old
}

// withTmpdir restores a TMUX_TMPDIR that a client has removed from the environment, if its
// value follows from the caller's own socket.
func withTmpdir(env []string, values map[string]string, c Caller) []string {
	if _, ok := tmux.SocketName(c.Socket); !ok || values["TMUX_TMPDIR"] != "" {
		return env
	}
	return append(slices.Clone(env), "TMUX_TMPDIR="+filepath.Dir(filepath.Dir(c.Socket)))
}

// Results is the form of tool results.
type Results string

const (
	// ResultsText is text for models to read.
	ResultsText Results = "text"
	// ResultsJSON is structured content with schemas, for programs, and a text block.
	ResultsJSON Results = "json"
)

// ParseResults parses a form of results; "" is text.
func ParseResults(s string) (Results, error) {
	switch r := Results(s); r {
	case "":
		return ResultsText, nil
	case ResultsText, ResultsJSON:
		return r, nil
	}
	return "", fmt.Errorf("unknown results %q: want text or json", s)
}

// Default and limits of [Config.MaxResult].
const (
	defaultMaxResult = 30_000
	leastMaxResult   = 1_000
)

// CheckMaxResult refuses a result bound that is too small or too large.
func CheckMaxResult(n int) error {
	if n < leastMaxResult || n > maxResult {
		return fmt.Errorf("must be %d to %d bytes", leastMaxResult, maxResult)
	}
	return nil
}

// ParseToolsets parses a comma-separated list of toolsets. "all" means all of them.
func ParseToolsets(s string) ([]string, error) {
	var sets []string
	for name := range strings.SplitSeq(s, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case name == "all":
			return nil, nil
		case slices.Contains(Toolsets(), name):
			sets = append(sets, name)
		default:
			return nil, fmt.Errorf("unknown toolset %q: want any of %s, or all", name, strings.Join(Toolsets(), ", "))
		}
	}
	if sets == nil {
		return nil, errors.New("no toolset named")
	}
	return sets, nil
}

// ParseLogLevel parses debug, info, warning or error.
func ParseLogLevel(s string) (slog.Level, error) {
	switch strings.ToLower(s) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn", "warning":
		return slog.LevelWarn, nil
	case "error", "critical":
		return slog.LevelError, nil
	}
	return slog.LevelWarn, fmt.Errorf("unknown log level %q: want debug, info, warning or error", s)
}
