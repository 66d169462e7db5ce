package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A recorder that works in a directory keeps creating files in it while it is removed,
// whatever its name is by then.
func TestRemoveAsFilesAreMade(t *testing.T) {
	for range 20 {
		home := t.TempDir()
		dir := newDir(home)
		ok(t, os.Mkdir(dir, 0o700))
		root, err := os.OpenRoot(dir)
		ok(t, err)
		begun, done := make(chan bool), make(chan bool)
		go func() {
			defer close(done)
			for i, start := 0, time.Now(); time.Since(start) < 40*time.Millisecond; i++ {
				f, err := root.Create(fmt.Sprint("s", i))
				if err != nil {
					return // it is gone
				}
				f.Close()
				if i == 0 {
					close(begun)
				}
			}
		}()
		<-begun
		remove(dir)
		<-done
		root.Close()
		if left, err := filepath.Glob(home + "/*"); err != nil || len(left) > 0 {
			t.Fatalf("left are %v, %v", left, err)
		}
	}
}
