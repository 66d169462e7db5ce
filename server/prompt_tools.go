package server

import (
	"context"
	"slices"

	"tmuxmcp/server/internal/params"
	"tmuxmcp/server/internal/reply"
	"tmuxmcp/server/internal/rows"
	"tmuxmcp/server/internal/target"
	"tmuxmcp/server/internal/tool"
)

// promptInfo is what list_prompts returns for a prompt.
type promptInfo struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []promptInfoItem `json:"arguments"`
}

type promptInfoItem struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

var listPrompts = tool.New(tool.Decl{
	Name: "list_prompts", Title: "List Prompts", Kind: tool.Reads, Set: tool.Prompts,
	Aim:  target.Nowhere,
	Desc: "List this server's prompts, for clients without prompt support.",
}, func(_ context.Context, _ tool.Call, in listPromptsIn) (reply.List[promptInfo], error) {
	var infos []promptInfo
	for _, p := range prompts {
		info := promptInfo{Name: p.name, Title: p.title, Description: p.desc, Arguments: []promptInfoItem{}}
		for _, a := range p.args {
			info.Arguments = append(info.Arguments, promptInfoItem{a.name, a.desc, a.def == ""})
		}
		infos = append(infos, info)
	}
	return rows.Page(infos, in.Paging), nil
})

type listPromptsIn struct{ rows.Paging }

var getPrompt = tool.New(tool.Decl{
	Name: "get_prompt", Title: "Get Prompt", Kind: tool.Reads, Set: tool.Prompts,
	Aim:  target.Nowhere,
	Desc: "Fill in one of this server's prompts and return its text.",
}, func(_ context.Context, _ tool.Call, in getPromptIn) (promptText, error) {
	i := slices.IndexFunc(prompts, func(p prompt) bool { return p.name == in.Name })
	if i < 0 {
		return promptText{}, reply.Faultf(reply.KindNotFound, "there is no prompt of this name").Suggest("list_prompts returns the names")
	}
	filled, err := prompts[i].render(in.Arguments)
	return promptText{filled}, err
})

// promptText is a prompt with its arguments, which come from the client itself.
type promptText struct {
	Result string `json:"result" exact:"true"`
}

func (t promptText) View() reply.View { return reply.TextView(t.Result) }

func (t promptText) TextBlock() string { return t.Result }

type getPromptIn struct {
	Name      string           `json:"name" desc:"from list_prompts"`
	Arguments params.StringMap `json:"arguments,omitempty" desc:"values by name"`
}
