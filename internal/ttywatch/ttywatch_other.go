//go:build !linux

// Package ttywatch has the kernel report when programs write to terminals.
package ttywatch

import "context"

// A Watch watches no terminals here.
type Watch struct{}

// Add is not supported here.
func (*Watch) Add(context.Context, int, string, func(over bool)) (remove func(), ok bool) {
	return nil, false
}
