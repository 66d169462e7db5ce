package configs

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// A long wait is shown every second on a terminal, and then removed; elsewhere it is
// reported once.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown, said []string
		env := Env{
			Progress: func(text string) { shown = append(shown, text) },
			Warn:     func(text string) { said = append(said, text) },
		}
		stop := env.Watch("building; slow", time.Minute)
		time.Sleep(2500 * time.Millisecond)
		stop()
		time.Sleep(time.Minute)
		want := []string{"building (1s of 1m0s); slow", "building (2s of 1m0s); slow", ""}
		if !slices.Equal(shown, want) || said != nil {
			t.Errorf("shown %q, said %q", shown, said)
		}
		env.Progress = nil
		stop = env.Watch("building; slow", time.Minute)
		time.Sleep(4 * time.Second)
		stop()
		stop = env.Watch("building; slow", time.Minute)
		time.Sleep(time.Minute)
		stop()
		synctest.Wait()
		if want := []string{"building; slow"}; !slices.Equal(said, want) {
			t.Errorf("said %q", said)
		}
	})
}
