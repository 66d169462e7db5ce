package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tmuxmcp/internal/nearest"
	"tmuxmcp/internal/terminal"
	"tmuxmcp/server/internal/caller"
	"tmuxmcp/server/internal/guard"
	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/screen"
	"tmuxmcp/server/internal/tool"
	"tmuxmcp/server/internal/typing"
	"tmuxmcp/server/internal/watch"
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
	// Toolsets restricts the tools to these sets, which [Settings] names; all if empty.
	Toolsets []string
	// Effects restricts the tools further, to those that do these things: inspect, manage,
	// execute or teardown; all if empty.
	Effects []string
	// SuppressHistory is the default of run_command's parameter suppress_history.
	SuppressHistory bool
	// WaitMax bounds every waiting tool; 300 s if zero, and at most 300 s.
	WaitMax time.Duration
	// Yield is how long a user who types in a pane must pause before a call types there; 2 s if
	// zero. If it is negative, calls do not wait.
	Yield time.Duration
	// Results is the form of results, text by default.
	Results Results
	// MaxResult bounds a result in bytes; 0 means 30,000 for text and 1,000,000 for JSON.
	MaxResult int
	// PromptsAsTools adds the tools list_prompts and get_prompt.
	PromptsAsTools bool
	// NoTranscripts is set if what coding agents write down of their states and conversations
	// must not be read.
	NoTranscripts bool
	// Transport is how tmux is reached; if empty, the fastest way that works.
	Transport tmux.Transport
	// AgentRules is a directory with rules of the user's for agent CLIs; none if empty.
	AgentRules string
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

// Caller is the pane that this process, and so the agent, runs in. The zero Caller is outside
// tmux.
type Caller = caller.Caller

// Tier is how much a tool may change, and how much a server allows.
type Tier = guard.Tier

// Tiers. Each includes the ones before it.
const (
	Readonly    = guard.Readonly
	Mutating    = guard.Mutating
	Destructive = guard.Destructive
)

// A Setting can be set by a flag, by a variable of the environment or by both.
type Setting struct {
	Flag, Short string // names without dashes; empty if there is none
	Usage       string // of the flag
	Values      []string
	// Set sets it to a value.
	Set func(cfg *Config, value string) error

	variable, old string // old is libtmux-mcp's variable, which counts if the other is not set, or empty
	meaning       string // of the variable
	// otherwise is what happens if the variable has an invalid value; if it is empty, the
	// server does not start.
	otherwise string
}

// Settings returns all settings.
func Settings() []Setting { return settings }

const (
	socketVariable     = "TMUX_MCP_SOCKET"
	socketPathVariable = "TMUX_MCP_SOCKET_PATH"
	effectsVariable    = "LIBTMUX_TOOLSETS"
)

var settings = []Setting{
	{
		Flag: "socket-name", Short: "L", Usage: "`name` of the tmux server to use",
		Set:      func(cfg *Config, value string) error { cfg.SocketName = value; return nil },
		variable: socketVariable, old: "LIBTMUX_SOCKET", meaning: "as --socket-name",
	}, {
		Flag: "socket-path", Short: "S", Usage: "socket `path` of the tmux server to use",
		Set:      func(cfg *Config, value string) error { cfg.SocketPath = value; return nil },
		variable: socketPathVariable, old: "LIBTMUX_SOCKET_PATH", meaning: "as --socket-path; excludes the one above",
	}, {
		Flag: "tmux", Usage: "tmux `program` to run (default tmux on PATH)",
		Set:      func(cfg *Config, value string) error { cfg.Tmux = value; return nil },
		variable: "TMUX_MCP_TMUX_BIN", old: "LIBTMUX_TMUX_BIN", meaning: "as --tmux",
	}, {
		Flag: "safety", Usage: "offer tools up to this `tier`: readonly, mutating or destructive (default mutating)",
		Values:   []string{string(Readonly), string(Mutating), string(Destructive)},
		Set:      setTier,
		variable: guard.SafetyVariable, old: "LIBTMUX_SAFETY", meaning: "as --safety; an unknown value is readonly, an empty one an error",
		otherwise: "is none of readonly, mutating, destructive: the server is readonly",
	}, {
		Flag: "toolsets", Usage: "offer only these comma-separated `sets`: " + strings.Join(tool.Toolsets(), ", ") + "; or all (default all)",
		Values:   append([]string{"all"}, tool.Toolsets()...),
		Set:      setToolsets,
		variable: "TMUX_MCP_TOOLSETS", old: "LIBTMUX_MCP_TOOLSETS", meaning: "as --toolsets",
	}, {
		Flag: "transport", Usage: "`way` to reach tmux: auto, native or exec (default auto)",
		Values: []string{string(tmux.TransportAuto), string(tmux.TransportNative), string(tmux.TransportExec)},
		Set: func(cfg *Config, value string) (err error) {
			cfg.Transport, err = tmux.ParseTransport(value)
			return err
		},
		variable: "TMUX_MCP_TRANSPORT", meaning: "as --transport",
	}, {
		Flag: "results", Usage: "`form` of results: text for models, or json with output schemas for programs (default text)",
		Values:   []string{string(ResultsText), string(ResultsJSON)},
		Set:      setResults,
		variable: "TMUX_MCP_RESULTS", meaning: "as --results",
	}, {
		Flag: "max-result", Usage: "longest result in `bytes` (default 30000, json 1000000)",
		Set:      setMaxResult,
		variable: "TMUX_MCP_MAX_RESULT", meaning: "as --max-result",
	}, {
		Flag: "yield", Usage: "type in a pane only after its user has paused for these `seconds`; 0 does not wait (default 2)",
		Set:      func(cfg *Config, value string) (err error) { cfg.Yield, err = typing.ParseYield(value); return err },
		variable: "TMUX_MCP_YIELD", meaning: "as --yield, in whole seconds",
	}, {
		Flag: "log-level", Usage: "`level` of the log on standard error: debug, info, warning or error (default warning; error for commands)",
		Values:   []string{"debug", "info", "warning", "error"},
		Set:      setLogLevel,
		variable: "TMUX_MCP_LOG_LEVEL", old: "FASTMCP_LOG_LEVEL", meaning: "as --log-level",
		otherwise: "is none of debug, info, warning, error: the level is warning",
	}, {
		Set:      func(cfg *Config, value string) (err error) { cfg.SuppressHistory, err = parseFlag(value); return err },
		variable: "TMUX_MCP_SUPPRESS_HISTORY", old: "LIBTMUX_SUPPRESS_HISTORY", meaning: "1 or 0: the default of suppress_history of run_command (default 1)",
	}, {
		Set:      setWaitMax,
		variable: "TMUX_MCP_WAIT_MAX_SECONDS", old: "LIBTMUX_MCP_WAIT_MAX_SECONDS", meaning: "the longest time that a tool waits, 1 to 300 seconds (default 300)",
	}, {
		Set:      func(cfg *Config, value string) (err error) { cfg.PromptsAsTools, err = parseFlag(value); return err },
		variable: "TMUX_MCP_PROMPTS_AS_TOOLS", old: "LIBTMUX_MCP_PROMPTS_AS_TOOLS", meaning: "1 adds the tools list_prompts and get_prompt (default 0)",
	}, {
		Set:      func(cfg *Config, value string) error { cfg.NoTranscripts = value != "0"; return nil },
		variable: "TMUX_MCP_NO_TRANSCRIPTS", meaning: "anything but 0: as --no-transcripts",
	}, {
		Set: func(cfg *Config, value string) (err error) {
			cfg.Effects, err = namesIn(value, tool.Effects(), "effect")
			return err
		},
		variable: effectsVariable, meaning: "offer only tools that do this: any of " + strings.Join(tool.Effects(), ", "),
	},
}

// Other variables that the server reads, with their meanings.
var foreign = [][2]string{
	{"TMUX, TMUX_PANE", "the pane that the server runs in; its tmux server is the default"},
	{"TMUX_TMPDIR", "the directory of tmux's sockets (default /tmp)"},
	{"XDG_RUNTIME_DIR, XDG_STATE_HOME", "where tmux-mcp keeps the files of jobs (default ~/.local/state)"},
	{"TMPDIR", "where earlier versions kept them; leftovers are removed (default /tmp)"},
	{"PATH", "where tmux is looked for"},
	{"XDG_CONFIG_HOME", "where tmux-mcp/agents has rules for agent CLIs (default ~/.config)"},
	{"HOME", "what ~ in arguments stands for"},
	{strings.Join(watch.Variables, ", "), "set by watch for the command of --exec, and otherwise ignored"},
	{"CLAUDE_CONFIG_DIR, CODEX_HOME, COPILOT_HOME, GEMINI_CLI_HOME, GROK_HOME, PI_CODING_AGENT_DIR, XDG_DATA_HOME", "in an agent's process: where it keeps its conversations"},
	{"PLUGIN_ROOT", "set by clients; a server started in this directory changes to HOME"},
}

// unobeyed are variables of the libtmux family that change what a server may do or how it
// answers, and that this server does not support.
var unobeyed = map[string]string{
	"LIBTMUX_TOOLS":              "use TMUX_MCP_TOOLSETS",
	"LIBTMUX_EXCLUDE_TOOLS":      "use TMUX_MCP_TOOLSETS or TMUX_MCP_SAFETY",
	"LIBTMUX_TMUX_CONFIG":        "start tmux with that configuration instead",
	"LIBTMUX_ENVIRONMENT_VALUES": "show_environment shows values only on request, in tier readonly one at a time; TMUX_MCP_TOOLSETS can leave the toolset options out",
	"LIBTMUX_MCP_CAPABILITIES":   "use LIBTMUX_TOOLSETS",
	"LIBTMUX_MCP_TOOLS":          "use TMUX_MCP_TOOLSETS",
	"LIBTMUX_MCP_MAX_LINES":      "use TMUX_MCP_MAX_RESULT",
	"LIBTMUX_MCP_MAX_BYTES":      "use TMUX_MCP_MAX_RESULT",
}

// Environment documents the variables that a server reads: names, and in the next line what
// they mean. If width is not zero, lines are wrapped at so many columns.
func Environment(width int) string {
	var b strings.Builder
	add := func(names, meaning string) {
		fmt.Fprintf(&b, "%s\n    %s\n", terminal.Wrap(names, width, 0), terminal.Wrap(meaning, width, 4))
	}
	for _, s := range settings {
		add(strings.TrimSuffix(s.variable+", "+s.old, ", "), s.meaning)
	}
	for _, v := range foreign {
		add(v[0], v[1])
	}
	for _, name := range slices.Sorted(maps.Keys(unobeyed)) {
		add(name, "refused: "+unobeyed[name])
	}
	return b.String()
}

// knownVariables returns the names of this project's and libtmux's variables that the
// environment may have, including some that are refused.
func knownVariables() []string {
	names := slices.Collect(maps.Keys(unobeyed))
	for _, s := range settings {
		names = append(names, s.variable, cmp.Or(s.old, s.variable))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkNames refuses variables that this server does not obey or that may be misspelt,
// since the server would then be less safe than requested: unknown ones of this project, and
// libtmux ones that resemble a known name. Other libtmux variables are libtmux's own and
// only cause a warning.
func checkNames(values map[string]string) (warnings []string, err error) {
	known := knownVariables()
	// Strip the prefix, which would make all names resemble each other.
	stem := func(name string) string {
		return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(name, "LIBTMUX_"), "TMUX_MCP_"))
	}
	var stems []string
	for _, name := range known {
		stems = append(stems, stem(name))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if instead, refused := unobeyed[name]; refused {
			return nil, fmt.Errorf("%s is set, and this server does not obey it: %s, or unset it", name, instead)
		}
		own := strings.HasPrefix(name, "TMUX_MCP_")
		if !own && !strings.HasPrefix(name, "LIBTMUX_") || slices.Contains(known, name) || slices.Contains(watch.Variables, name) {
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
			err := fmt.Errorf("unknown variable %s; did you mean %s?", params.Short(name, 100), meant)
			if instead, refused := unobeyed[meant]; refused {
				err = fmt.Errorf("%w This server does not obey that: %s", err, instead)
			}
			return nil, err
		case own:
			return nil, fmt.Errorf("unknown variable %s; tmux-mcp environment lists the variables", params.Short(name, 100))
		}
		warnings = append(warnings, "unknown variable "+name+" is ignored")
	}
	return warnings, nil
}

// WithoutSocket returns an environment without the variables that name a socket, for a
// program that is given one in another way.
func WithoutSocket(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(settings, func(s Setting) bool {
			return (s.variable == socketVariable || s.variable == socketPathVariable) && (name == s.variable || name == s.old)
		})
	})
}

// WithoutEmptyTier returns an environment without an empty variable for the tier, for a
// program that is given that in another way.
func WithoutEmptyTier(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return slices.ContainsFunc(settings, func(s Setting) bool {
			return s.variable == guard.SafetyVariable && (kv == s.variable+"=" || kv == s.old+"=")
		})
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
	if warnings, err = checkNames(values); err != nil {
		return cfg, nil, err
	}
	cfg = Config{SuppressHistory: true, WaitMax: screen.MaxWait, Results: ResultsText, LogLevel: slog.LevelWarn, Env: env}
	socket := "" // the variable that names one
	for _, s := range settings {
		name := s.variable
		value, ok := values[name]
		if old, set := values[s.old]; value == "" && set && (old != "" || !ok) {
			name, value, ok = s.old, old, true
		}
		// An empty variable is as good as none, but an empty list of effects asks for no
		// tools, not for all, and an empty tier may have been meant as the lowest.
		if value == "" && !(ok && (s.variable == effectsVariable || s.variable == guard.SafetyVariable)) {
			continue
		}
		err := s.Set(&cfg, value)
		switch {
		case err != nil && value == "":
			return cfg, nil, fmt.Errorf("%s is empty: %w", name, err)
		case err != nil && s.otherwise != "":
			warnings = append(warnings, name+" "+s.otherwise)
		case err != nil:
			return cfg, nil, fmt.Errorf("%s: %w", name, err)
		case s.variable == socketVariable:
			socket = name
		case s.variable == socketPathVariable && socket != "":
			return cfg, nil, fmt.Errorf("%s and %s are both set: a tmux server has one socket", socket, name)
		}
	}
	if cfg.Tier == "" {
		cfg.Tier = tool.TierOf(cfg.Effects)
	}
	cfg.AgentRules = agentRules(values)
	cfg.Caller = caller.Find(values)
	cfg.Env = withTmpdir(env, values, cfg.Caller)
	return cfg, warnings, nil
}

// agentRules returns the directory of the user's rules for agents, or "". A relative path is
// ignored, as the specification of these variables demands.
func agentRules(env map[string]string) string {
	if dir := env["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "tmux-mcp", "agents")
	}
	if home := env["HOME"]; filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "tmux-mcp", "agents")
	}
	return ""
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
type Results = reply.Results

const (
	// ResultsText is text for models to read.
	ResultsText = reply.ResultsText
	// ResultsJSON is structured content with schemas, for programs, and a text block.
	ResultsJSON = reply.ResultsJSON
)

// Text returns the text of all blocks of a result.
func Text(res *mcp.CallToolResult) string { return reply.TextOf(res) }

// Notice returns what a typed result has to say besides; "" if that is nothing. A text begins
// with it.
func Notice(res *mcp.CallToolResult) string {
	if res.Meta == nil {
		return ""
	}
	notice, _ := res.Meta.AdditionalFields["notice"].(string)
	return notice
}

// leastMaxResult is the least [Config.MaxResult] that the environment can set.
const leastMaxResult = 1_000

func setTier(cfg *Config, value string) error {
	switch cfg.Tier = Tier(value); cfg.Tier {
	case Readonly, Mutating, Destructive:
		return nil
	}
	cfg.Tier = Readonly
	return errors.New("want readonly, mutating or destructive")
}

// setToolsets takes a list with commas. "all" means all of them.
func setToolsets(cfg *Config, value string) (err error) {
	cfg.Toolsets, err = namesIn(value, append(tool.Toolsets(), "all"), "toolset")
	if slices.Contains(cfg.Toolsets, "all") {
		cfg.Toolsets = nil
	}
	return err
}

// namesIn parses a list of names with commas.
func namesIn(list string, known []string, what string) (names []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
		case slices.Contains(known, name):
			names = append(names, name)
		default:
			return nil, fmt.Errorf("unknown %s %q: want any of %s", what, params.Short(name, 100), strings.Join(known, ", "))
		}
	}
	if names == nil {
		return nil, fmt.Errorf("no %s named: want any of %s", what, strings.Join(known, ", "))
	}
	return names, nil
}

func setResults(cfg *Config, value string) error {
	if cfg.Results = Results(value); cfg.Results != ResultsText && cfg.Results != ResultsJSON {
		return fmt.Errorf("unknown results %q: want text or json", value)
	}
	return nil
}

func setMaxResult(cfg *Config, value string) (err error) {
	if cfg.MaxResult, err = strconv.Atoi(value); err != nil || cfg.MaxResult < leastMaxResult || cfg.MaxResult > reply.MaxResult {
		return fmt.Errorf("must be %d to %d bytes", leastMaxResult, reply.MaxResult)
	}
	return nil
}

func setLogLevel(cfg *Config, value string) error {
	level, ok := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "warning": slog.LevelWarn,
		"error": slog.LevelError, "critical": slog.LevelError,
	}[strings.ToLower(value)]
	if !ok {
		return fmt.Errorf("unknown log level %q: want debug, info, warning or error", value)
	}
	cfg.LogLevel = level
	return nil
}

func parseFlag(value string) (bool, error) {
	if value != "0" && value != "1" {
		return false, errors.New("must be 0 or 1")
	}
	return value == "1", nil
}

func setWaitMax(cfg *Config, value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	if most := screen.MaxWait.Seconds(); err != nil || !(seconds >= 1 && seconds <= most) { // NaN neither
		return fmt.Errorf("must be 1 to %v seconds", most)
	}
	cfg.WaitMax = time.Duration(seconds * float64(time.Second))
	return nil
}
