//go:build !linux

package proctree

import "errors"

func Adopt() {}

func EndChildren() bool { return false }

func Children(int) ([]int, error) { return nil, errors.ErrUnsupported }

func KillBelow() {}
