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
//
// If there is a file answer, it writes its conversation down as claude does, below the
// directory home: each line and, once there is no file hold, the answer, which is the part
// of a JSON string. Until then its footer says that it works.
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
session=00000000-0000-4000-8000-$(printf %012d $$)
lines=home/projects/here/$session.jsonl
status() {
	mkdir -p home/sessions home/projects/here
	read -r stat </proc/$$/stat
	set -- "$1" ${stat##*) }
	printf '{"pid":%d,"procStart":"%s","sessionId":"%s","status":"%s"}' $$ "${21}" $session "$1" >home/new
	mv home/new home/sessions/$$.json
}
say() {
	printf '{"type":"%s","uuid":"%s","timestamp":"%s","message":{"content":[{"type":"text","text":"%s"}]%s}}\n' \
		$1 $(wc -l <$lines) $(date -u +%FT%TZ) "$2" "$3" >>$lines
}
converse() {
	status busy
	: >>$lines
	say user "$1" ''
	while [ -e hold ]; do
		echo 'esc to interrupt' >footer
		draw
		sleep 0.05
	done
	rm -f footer
	say assistant "$(cat answer)" ',"stop_reason":"end_turn"'
	status idle
}
trap draw USR1
draw
while :; do
	if IFS= read -r line; then
		printf '%s\n' "$line" >>got
		[ ! -e runs ] || { . ./runs; eval "$line"; }
		[ ! -e answer ] || converse "$line"
		[ -e stuck ] || draw
	fi
done
`
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return "exec env CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "home") + " " + filepath.Join(dir, "claude") + " " + filepath.Join(dir, "script"), dir
}
