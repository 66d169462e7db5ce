// Package testagent makes programs that look like agent CLIs.
package testagent

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Claude returns the command line of a program that looks like claude: it has an input
// box, and an entered line goes to the file got. If the file screen exists when it draws,
// it shows that instead of the box. The file box has the text in the box, and footer the
// footer. If there is a file runs, it runs that and the lines; if there is a file stuck, it
// does not redraw.
func Claude(t testing.TB) (command, dir string) {
	t.Helper()
	dir = t.TempDir()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	if shell, err = filepath.EvalSymlinks(shell); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shell, filepath.Join(dir, "claude")); err != nil {
		t.Fatal(err)
	}
	const script = `cd "${0%/*}"
rule=────────────────────────
draw() {
	printf '\033[2J\033[H\n\n'
	if [ -e screen ]; then cat screen; return; fi
	box=$(cat box 2>/dev/null) footer=$(cat footer 2>/dev/null || echo '? for shortcuts $')
	printf '%s\n❯ %s\n%s\n  %s\033[4;%dH' "$rule" "$box" "$rule" "$footer" $((3 + ${#box}))
}
trap draw USR1
draw
while :; do
	if IFS= read -r line; then
		printf '%s\n' "$line" >>got
		[ ! -e runs ] || { . ./runs; eval "$line"; }
		[ -e stuck ] || draw
	fi
done
`
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return "exec " + filepath.Join(dir, "claude") + " " + filepath.Join(dir, "script"), dir
}
