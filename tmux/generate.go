package tmux

//go:generate go run ../internal/tokens/gen ../fixtures/tokens.json tokens_gen.go
