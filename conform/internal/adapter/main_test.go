package adapter

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"tmuxmcp/internal/test/testtool"
)

// The test binary is also the adapters that tests start.
func TestMain(m *testing.M) {
	if fault, is := os.LookupEnv("ADAPTER_TEST_FAULT"); is {
		standIn(fault)
		os.Exit(0)
	}
	if os.Getenv("ADAPTER_TEST_LIBRARY") != "" {
		if err := Serve(&Library{}, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testtool.Parallel(8) // they wait
	graceTime = time.Second
	code := m.Run()
	if left := goroutines(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines of closed clients are left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// goroutines returns those that a client has started, once they have had time to end.
func goroutines() (left string) {
	ours := regexp.MustCompile(`created by \S+/internal/(adapter|peer)\.`)
	for range 100 {
		left = ""
		stacks := make([]byte, 1<<20)
		for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if ours.MatchString(g) {
				left += g + "\n"
			}
		}
		if left == "" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return left
}

// describes is a right answer to describe.
const describes = `{"protocol":1,"name":"stand-in","version":"1"}`

// standIn is an adapter that answers display with the format. It has the fault of this name.
func standIn(fault string) {
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	switch fault {
	case "prints first":
		say("loading…")
	case "slow to start":
		time.Sleep(2 * time.Second) // as one that loads much
	case "leaves a child":
		child := exec.Command("sleep", "600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			panic(err)
		}
	case "blank lines":
		say("\n  ")
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, maxMessage)
	for in.Scan() {
		var r struct {
			ID     int
			Method string
			Params struct{ Format string }
		}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			panic(in.Text())
		}
		if r.Method == "describe" {
			switch fault {
			case "protocol 2":
				say(`{"jsonrpc":"2.0","id":%d,"result":{"protocol":2}}`, r.ID)
			case "no name":
				say(`{"jsonrpc":"2.0","id":%d,"result":{"protocol":1,"version":"1"}}`, r.ID)
			case "offers nothing":
				say(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no describe"}}`, r.ID)
			case "ends at once":
				fmt.Fprintln(os.Stderr, "no module libtmux")
				os.Exit(1)
			default:
				say(`{"jsonrpc":"2.0","id":%d,"result":%s}`, r.ID, describes)
			}
			continue
		}
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"value":%q}}`, r.ID, r.Params.Format)
		switch fault {
		case "no answer":
		case "ends":
			os.Exit(3)
		case "ends with a message":
			fmt.Fprintln(os.Stderr, "Traceback:\n  KeyError: 'x'")
			os.Exit(1)
		case "killed":
			p, _ := os.FindProcess(os.Getpid())
			p.Kill()
			select {}
		case "closes its output":
			fmt.Fprintln(os.Stderr, "bye")
			os.Stdout.Close()
			time.Sleep(time.Hour) // until it is killed
		case "answers and ends":
			fmt.Print(answer)
			os.Exit(0)
		case "ends within a line":
			fmt.Print(answer[:10])
			os.Exit(4)
		case "garbage":
			say("debug: asked for %s", r.Method)
		case "an array":
			say("[%s]", answer)
		case "another id":
			say(`{"jsonrpc":"2.0","id":77,"result":{}}`)
		case "an id as text":
			say(`{"jsonrpc":"2.0","id":"%d","result":{}}`, r.ID)
		case "no id":
			say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
		case "two answers":
			say("%s\n%s", answer, answer)
		case "result and error":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"value":""},"error":{"code":1,"message":"x"}}`, r.ID)
		case "neither":
			say(`{"jsonrpc":"2.0","id":%d}`, r.ID)
		case "rows is no array":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"rows":{}}}`, r.ID)
		case "no jsonrpc":
			say(`{"id":%d,"result":{"value":""}}`, r.ID)
		case "a request":
			say(`{"jsonrpc":"2.0","id":1,"method":"ask","params":{}}`)
		case "5 MiB":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"value":"%s"}}`, r.ID, strings.Repeat("x", 5<<20))
		case "3 MiB":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"value":"%s"}}`, r.ID, strings.Repeat("x", 3<<20))
		case "not UTF-8":
			say(`{"jsonrpc":"2.0","id":%d,"result":{"value":"%s"}}`, r.ID, "\xff")
		case "no method":
			say(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32601,"message":"no Server.display"}}`, r.ID)
		case "no parameter":
			say(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"no format"}}`, r.ID)
		case "fails":
			say(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"KeyError"}}`, r.ID)
		case "refuses":
			say(`{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no x","data":{"type":"E"}}}`, r.ID)
		case "floods":
			for {
				say(answer)
			}
		case "floods without a line":
			for {
				fmt.Print(answer)
			}
		case "never reads":
			say(answer)
			time.Sleep(time.Hour) // until it is killed
		default:
			say(answer)
		}
	}
	if fault == "stays" {
		time.Sleep(time.Hour) // until it is killed
	}
	if fault == "talks at the end" {
		say("goodbye")
	}
}
