//go:build !linux

package runner

// watch announces nothing here.
func watch(string, <-chan struct{}) (<-chan struct{}, error) { return nil, errNoWatch }
