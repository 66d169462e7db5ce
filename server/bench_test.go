package server

import "testing"

// BenchmarkNew is what this program adds to the start of a process.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		fieldCache.Clear()
		if _, err := New(Config{Tmux: "/bin/true", Tier: Destructive}); err != nil {
			b.Fatal(err)
		}
	}
}
