package cli

import (
	"time"

	"tmuxmcp/swap"
	"tmuxmcp/swap/ask"
	"tmuxmcp/swap/clients"
)

// A Document is what --json prints. docs/mcp-swap.schema.json describes its fields.
type Document struct {
	Version  int            `json:"version"`
	Command  string         `json:"command"`
	Repo     string         `json:"repo"`
	Server   string         `json:"server"`
	DryRun   bool           `json:"dry_run,omitempty"`
	Clients  []Client       `json:"clients"`
	Swaps    []Client       `json:"swaps,omitempty"`
	Findings []swap.Finding `json:"findings,omitzero"`
	Notes    []string       `json:"notes,omitempty"`
	Error    string         `json:"error,omitempty"`
}

// schemaVersion is incremented when a field is removed or changes meaning.
const schemaVersion = 1

// A Client is one client and scope in a [Document].
type Client struct {
	Client string        `json:"client"`
	Scope  clients.Scope `json:"scope,omitempty"`
	Server string        `json:"server,omitempty"`
	Repo   string        `json:"repo,omitempty"`

	Present  *bool    `json:"present,omitempty"`
	Binary   *string  `json:"binary,omitempty"`
	Binaries []string `json:"binaries,omitzero"`
	Note     string   `json:"note,omitempty"`

	Config  string    `json:"config"`
	Exists  *bool     `json:"config_exists,omitempty"`
	Found   *bool     `json:"found,omitempty"`
	Command []string  `json:"command,omitempty"`
	Env     []string  `json:"env,omitempty"`
	Tag     *swap.Tag `json:"tag,omitempty"`
	Shadows []string  `json:"shadows,omitempty"`
	Merged  []string  `json:"merged,omitempty"`

	Time     time.Time `json:"time,omitzero"`
	Reverted time.Time `json:"reverted,omitzero"`
	Listed   *bool     `json:"listed,omitempty"`

	Outcome  string   `json:"outcome,omitempty"`
	Detail   string   `json:"detail,omitempty"`
	Backup   string   `json:"backup,omitempty"`
	Diff     string   `json:"diff,omitempty"`
	Masked   bool     `json:"masked,omitempty"`
	Cautions []string `json:"cautions,omitempty"`

	OK        *bool           `json:"ok,omitempty"`
	Handshake *swap.Handshook `json:"handshake,omitempty"`
	NotTried  string          `json:"not_tried,omitempty"`
	Asked     *swap.Asked     `json:"asked,omitempty"`
	NotAsked  string          `json:"not_asked,omitempty"`
	Problems  []string        `json:"problems,omitempty"`

	Error string `json:"error,omitempty"`
}

func detected(d swap.Detected) Client {
	return Client{
		Client: d.Client, Present: &d.Present, Binary: &d.Binary, Binaries: append([]string{}, d.Binaries...), Note: d.Note,
		Config: d.Config, Exists: &d.ConfigExists,
	}
}

func state(s swap.ClientState) Client {
	return Client{
		Client: s.Client, Scope: s.Scope, Config: s.Config, Exists: &s.Exists, Found: &s.Found,
		Command: s.Command, Env: s.Env, Tag: s.Tag, Shadows: s.Shadows, Merged: s.Merged, Error: s.Error,
	}
}

func recorded(s swap.Swap) Client {
	c := state(s.ClientState)
	c.Server, c.Repo, c.Time, c.Reverted, c.Listed = s.Server, s.Repo, s.Time, s.Reverted, &s.Listed
	return c
}

func verified(v swap.Verified) Client {
	c := state(v.ClientState)
	c.OK, c.Handshake, c.NotTried, c.Asked, c.NotAsked, c.Problems = &v.OK, v.Handshake, v.NotTried, v.Asked, v.NotAsked, v.Problems
	return c
}

func result(r swap.Result) Client {
	c := Client{
		Client: r.Client, Scope: r.Scope, Server: r.Server, Repo: r.Repo, Config: r.Config,
		Command: ask.ShowArgs(r.Command), Shadows: r.Shadows, Merged: r.Merged,
		Cautions: r.Cautions, Outcome: r.Outcome, Detail: r.Detail, Backup: r.Backup, Diff: string(r.Diff), Masked: r.Masked,
	}
	if r.URL != "" {
		c.Tag = &swap.Tag{Kind: swap.TagRemote, URL: ask.ShowURL(r.URL)}
	}
	if r.Err != nil {
		c.Error = r.Err.Error()
	}
	return c
}

// each converts everything that a command found; it never returns nil.
func each[T any](from []T, convert func(T) Client) []Client {
	out := make([]Client, len(from))
	for i, f := range from {
		out[i] = convert(f)
	}
	return out
}
