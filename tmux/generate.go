package tmux

//go:generate go run ../internal/cmd/tokens ../fixtures/tokens.json tokens_gen.go
