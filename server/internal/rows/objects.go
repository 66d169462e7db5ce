package rows

import (
	"time"

	"tmuxmcp/tmux"
)

// Server is what the tools return for a tmux server.
type Server struct {
	IsAlive      bool    `json:"is_alive"`
	SocketName   *string `json:"socket_name"`
	SocketPath   string  `json:"socket_path"`
	SessionCount int     `json:"session_count"`
	Version      *string `json:"version"`
}

// Client is what list_clients returns for a terminal attached to tmux.
type Client struct {
	ClientName         string          `json:"client_name" tmux:"client_name"`
	ClientTTY          *string         `json:"client_tty" tmux:"client_tty"`
	ClientPID          int             `json:"client_pid" tmux:"client_pid"`
	ClientUser         *string         `json:"client_user" tmux:"client_user,since=3.3"`
	ClientTermname     *string         `json:"client_termname" tmux:"client_termname"`
	ClientTermtype     *string         `json:"client_termtype" tmux:"client_termtype"`
	ClientTermfeatures []string        `json:"client_termfeatures" tmux:"client_termfeatures,sep=comma"`
	ClientTheme        *string         `json:"client_theme" tmux:"client_theme,since=3.6"`
	ClientWidth        *int            `json:"client_width" tmux:"client_width"`
	ClientHeight       *int            `json:"client_height" tmux:"client_height"`
	ClientFlags        []string        `json:"client_flags" tmux:"client_flags,sep=comma"`
	ClientControlMode  bool            `json:"client_control_mode" tmux:"client_control_mode"`
	ClientReadonly     bool            `json:"client_readonly" tmux:"client_readonly"`
	ClientPrefix       bool            `json:"client_prefix" tmux:"client_prefix"`
	ClientUTF8         bool            `json:"client_utf8" tmux:"client_utf8"`
	ClientKeyTable     *string         `json:"client_key_table" tmux:"client_key_table"`
	ClientCreated      time.Time       `json:"client_created" tmux:"client_created"`
	ClientActivity     time.Time       `json:"client_activity" tmux:"client_activity"`
	ClientSession      *string         `json:"client_session" tmux:"client_session"`
	ClientLastSession  *string         `json:"client_last_session" tmux:"client_last_session"`
	SessionID          *tmux.SessionID `json:"session_id" tmux:"session_id"`
	WindowID           *tmux.WindowID  `json:"window_id" tmux:"window_id"`
	PaneID             *tmux.PaneID    `json:"pane_id" tmux:"pane_id"`
}
