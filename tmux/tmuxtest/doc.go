// Package tmuxtest tests terminal programs in a real terminal: tmux, on a private server
// without configuration that is gone when the test ends.
//
//	func TestMenu(t *testing.T) {
//		p := tmuxtest.Start(t, "./menu", "-plain")
//		p.WaitFor("New", "Open")
//		p.Press("Down", "Enter")
//		p.WaitFor("Open which file?")
//		p.Golden("open")
//		p.Resize(40, 10)
//		p.Golden("open-small")
//		p.Type("notes.txt")
//		p.Press("C-c")
//		if status := p.WaitExit(); status != 130 {
//			t.Errorf("exit status %d", status)
//		}
//	}
//
// [Start] runs a program in a terminal of 80 columns and 24 rows. [Terminal] starts one at
// another size, with other variables, or in another directory. [Build] builds one from its
// Go source. The file tmux/tmuxtest/tui_test.go tests two small programs in these ways.
//
// # Input and output
//
// [Program.Type] types text, [Program.Press] presses keys by name ("Enter", "C-c", "M-Left"),
// [Program.Paste] pastes and [Program.Click] clicks. All return once the terminal has the
// input, before the program has responded. So wait for the response: [Program.WaitFor] waits
// for texts, [Program.WaitUntil] for anything else on the screen, and [Program.WaitExit] for
// the exit status. [Program.Golden] and [Program.GoldenStyled] wait until the screen matches
// a file. [Program.Screen] does not wait: it returns what is shown right now.
//
// A method that fails ends the test and prints the screen, so call it from the goroutine of
// the test, as [testing.T.FailNow] requires. A wait fails after [Terminal.Timeout], or at
// once if the program has exited. The screen of a program that has exited stays as it was. It
// is printed in a frame that is as wide as the terminal, and ends at the last row that is not
// blank or has the cursor.
//
// All failures end the test with Fatalf of the [testing.TB], except those while it is cleaned
// up, which are reported with Errorf. So helpers that use this package can be tested with a
// type that embeds the real testing.TB and has its own Fatalf, which must not return: it can
// call [runtime.Goexit].
//
// # Golden files
//
// They are below testdata/golden. To write them from what the screen shows, run
//
//	TMUX_TEST_UPDATE=1 go test
//
// (any other value writes nothing) or go test -update, if your test package defines that flag:
//
//	var _ = flag.Bool("update", false, "write the golden files")
//
// This package does not define it, because a test binary in which two packages define a flag
// panics. A golden file matches with every supported tmux, unless they disagree about the
// width of a character, as of new emoji.
//
// # Environment
//
// The program gets PATH, HOME (an empty directory), SHELL=/bin/sh, PS1, ENV, LANG=C.UTF-8,
// TERM=screen-256color, TMUX_TMPDIR and XDG_RUNTIME_DIR (a private directory), and what
// [Terminal.Env] adds. Variables from which it could see that it runs in tmux are not set.
//
// The tmux program, 3.2a or later, is the one that TMUX_TEST_BINARY names, or else the one on
// PATH. If there is none, tests are skipped or, with TMUX_TEST_REQUIRED=1, fail.
// TMUX_TEST_BINARY=none skips them too.
//
// # Cleaning up
//
// When the test ends, the program is killed with the processes of its session, and so is the
// tmux server. The same happens if the test process itself is killed or panics: a shell
// beside the server reads from a pipe that only the test process has open for writing, so it
// sees the end of the file when that process is gone, for whatever reason, and cleans up.
//
// # Servers
//
// To test code that uses package tmux, get a server of your own from [Server].
package tmuxtest
