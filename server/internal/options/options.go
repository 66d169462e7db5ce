// Package options has the tools of options, hooks and environments.
package options

import (
	"tmuxmcp/server/internal/tool"
)

// All returns the tools, in catalogue order.
func All() []*tool.Tool {
	return []*tool.Tool{showOption, setOption, showEnvironment, setEnvironment, showHooks, showHook}
}
