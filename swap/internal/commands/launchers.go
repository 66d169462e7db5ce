package commands

import "tmuxmcp/internal/lazy"

// A way is what the words after a launcher's flags mean.
type way int

const (
	script    way = iota + 1 // the next word is a file
	either                   // … if it looks like one; otherwise a script of the project in the directory
	project                  // the launcher runs the project in the directory, whatever the words
	inProject                // the rest is a command in the environment of the project in the directory
	wrap                     // the rest is a command
	dashed                   // … after --, if there is one
	fetch                    // the next word is a package, or a path to one
	goRun                    // … or a directory of the module in the directory
)

// A launcher is a program that starts others. Flags that are not listed have no value.
type launcher struct {
	ways    map[string]way // by leading words; "": without them
	takes   string         // flags with a value
	dirs    string         // flags that change the directory
	files   string         // flags that name a file in the project's directory
	runs    string         // flags that name the file to run
	modules string         // flags that name the module to run; a script runner also has -m
	pkgs    string         // flags that name packages, one of which has the program
	withs   string         // flags that name packages beside the project's
	texts   string         // flags with a shell command line
	splits  string         // flags with a text of more words for the launcher
	with    string         // flags with a text that is the command for the rest
	then    string         // flags before a command; a word before them is the directory
	skip    int            // words before the command
	vars    bool           // assignments may come before the command
	windows bool           // flags begin with a slash, and a command of one word is a shell command line
	nearest bool           // it prefers a package in the directory, or above
}

const (
	nodeTakes = "-r --require --import --loader --experimental-loader --env-file -C --conditions --tsconfig --watch-path"
	npmTakes  = "-w --workspace --cache --registry --loglevel --userconfig -F --filter --call --allow-scripts --allow-build --script-shell --node-options --tag --omit --include --env-file --store-dir"
	uvTakes   = "-w --with --with-requirements --with-editable -p --python --python-platform --python-preference --package --extra --no-extra --group --no-group --only-group " +
		"--env-file --index --default-index -i --index-url --extra-index-url -f --find-links --index-strategy --keyring-provider --resolution --prerelease --fork-strategy " +
		"--exclude-newer --exclude-newer-package --link-mode -c --constraints -b --build-constraints --overrides -C --config-setting --config-settings-package --torch-backend " +
		"-P --upgrade-package --reinstall-package --refresh-package --no-build-package --no-binary-package --no-build-isolation-package --no-sources-package " +
		"--cache-dir --config-file --color --allow-insecure-host"
)

var (
	runsScript = map[string]way{"": script}
	wraps      = map[string]way{"": wrap}
	npm        = map[string]way{"start": project, "run": project, "run-script": project, "test": project, "exec": fetch, "x": fetch}
	python     = launcher{ways: runsScript, takes: "-W -X --check-hash-based-pycs"}
	node       = launcher{ways: map[string]way{"": script}, takes: nodeTakes}
	shells     = launcher{ways: runsScript, texts: "-c -lc -ic -lic -ilc -ec -cl -xc -euc", takes: "-o --rcfile --init-file"}
)

var launchers = map[string]launcher{
	"node": node, "nodejs": node, "ts-node": {ways: runsScript, takes: nodeTakes + " -P --project -O", dirs: "--cwd"},
	"ts-node-esm": node, "tsx": {ways: map[string]way{"watch": script, "": script}, takes: nodeTakes},
	"nodemon": {ways: runsScript, takes: "-w --watch -i --ignore -e --ext -d --delay -P --polling-interval --signal --config -r --require", dirs: "--cwd", with: "-x --exec"},
	"bun":     {ways: map[string]way{"run": either, "x": fetch, "": either}, takes: nodeTakes + " --preload -c --config", dirs: "--cwd", pkgs: "-p --package"},
	"deno":    {ways: map[string]way{"run": script, "task": project, "": script}, takes: "-c --config --import-map --lock --env-file --location --seed", dirs: "--cwd"},
	"npm":     {ways: npm, takes: npmTakes, dirs: "--prefix -C", pkgs: "-p --package", texts: "-c", nearest: true},
	"npx":     {ways: map[string]way{"": fetch}, takes: npmTakes, dirs: "--prefix -C", pkgs: "-p --package", texts: "-c --call", nearest: true},
	"pnpm":    {ways: map[string]way{"dlx": fetch, "exec": inProject, "start": project, "run": project, "": inProject}, takes: npmTakes, dirs: "-C --dir", pkgs: "--package"},
	"yarn":    {ways: map[string]way{"dlx": fetch, "exec": inProject, "start": project, "run": inProject, "node": script, "": inProject}, takes: npmTakes, dirs: "--cwd", pkgs: "-p --package"},
	"pnpx":    {ways: map[string]way{"": fetch}, takes: npmTakes, dirs: "-C --dir", pkgs: "--package"},
	"bunx":    {ways: map[string]way{"": fetch}, takes: "-c --config", dirs: "--cwd", pkgs: "-p --package"},

	"python": python, "pythonw": python, "py": python,
	"uv":       {ways: map[string]way{"run": inProject, "tool run": fetch}, takes: uvTakes, dirs: "--directory --project", runs: "-s --script", modules: "-m --module", pkgs: "--from", withs: "-w --with"},
	"uvx":      {ways: map[string]way{"": fetch}, takes: uvTakes, pkgs: "--from", dirs: "--directory --project"},
	"pipx":     {ways: map[string]way{"run": fetch}, takes: "--python --fetch-python -i --index-url --pip-args --backend --with", pkgs: "--spec"},
	"poetry":   {ways: map[string]way{"run": inProject}, dirs: "-C --directory -P --project"},
	"pdm":      {ways: map[string]way{"run": inProject}, dirs: "-p --project", takes: "-c --config --venv"},
	"hatch":    {ways: map[string]way{"run": project}, takes: "-e --env", dirs: "-p --project"},
	"pipenv":   {ways: map[string]way{"run": inProject}},
	"rye":      {ways: map[string]way{"run": inProject}},
	"mcp":      {ways: map[string]way{"run": script, "dev": script}, takes: "-t --transport --with"},
	"fastmcp":  {ways: map[string]way{"run": script, "dev": script}, takes: "-t --transport --with --with-editable --with-requirements --python --project --host --port --path -l --log-level"},
	"coverage": {ways: map[string]way{"run": script}},

	"go":     {ways: map[string]way{"run": goRun}, dirs: "-C", takes: "-tags -ldflags -gcflags -mod -modfile -exec -p"},
	"cargo":  {ways: map[string]way{"run": project, "r": project}, dirs: "-C", files: "--manifest-path", takes: "--bin -p --package --features --example --target --target-dir --profile"},
	"dotnet": {ways: map[string]way{"run": project, "exec": script, "": script}, takes: "-c --configuration -f --framework --launch-profile", runs: "--project"},
	"java":   {ways: runsScript, takes: "-cp -classpath --class-path -p --module-path --add-opens --add-modules", runs: "-jar"},
	"ruby":   {ways: runsScript, takes: "-I -r"}, "php": {ways: runsScript, takes: "-d -c"}, "perl": {ways: runsScript},
	"swift":     {ways: map[string]way{"run": project}, dirs: "--package-path", takes: "-c --configuration"},
	"make":      {ways: map[string]way{"": project}, dirs: "-C --directory", files: "-f --file"},
	"just":      {ways: map[string]way{"": project}, dirs: "-d --working-directory", files: "-f --justfile"},
	"nix":       {ways: map[string]way{"run": fetch, "develop": inProject, "shell": inProject}, takes: "--override-input -k --keep -u --unset", then: "-c --command"},
	"nix-shell": {ways: map[string]way{"": project}, takes: "-p --packages -A --attr -I -E --expr", texts: "--run --command"},

	"env": {ways: wraps, takes: "-u --unset", dirs: "-C --chdir", splits: "-S --split-string", vars: true}, "cross-env": {ways: wraps, vars: true},
	"nice": {ways: wraps, takes: "-n --adjustment"}, "ionice": {ways: wraps, takes: "-c -n"}, "time": {ways: wraps, takes: "-f -o"},
	"stdbuf": {ways: wraps, takes: "-i -o -e"}, "timeout": {ways: wraps, takes: "-k -s --kill-after --signal", skip: 1},
	"nohup": {ways: wraps}, "setsid": {ways: wraps}, "exec": {ways: wraps, takes: "-a"}, "command": {ways: wraps},
	"sudo": {ways: wraps, takes: "-u -g", dirs: "-D --chdir"}, "caffeinate": {ways: wraps, takes: "-t -w"}, "arch": {ways: wraps},
	"xvfb-run": {ways: wraps, takes: "-n -s"}, "tini": {ways: wraps}, "dumb-init": {ways: wraps}, "corepack": {ways: wraps}, "nvm-exec": {ways: wraps},
	"fnm": {ways: map[string]way{"exec": wrap}, takes: "--using"}, "volta": {ways: map[string]way{"run": wrap}, takes: "--node --npm --yarn --pnpm"},
	"direnv": {ways: map[string]way{"exec": wrap}, skip: 1}, "asdf": {ways: map[string]way{"exec": wrap}},
	"mise":   {ways: map[string]way{"exec": dashed, "x": dashed}, texts: "-c --command", dirs: "-C --cd"},
	"dotenv": {ways: map[string]way{"run": dashed, "": dashed}, takes: "-e -f --file -c -v"}, "dotenvx": {ways: map[string]way{"run": dashed}, takes: "-f --env-file -e"},
	"op": {ways: map[string]way{"run": dashed}}, "doppler": {ways: map[string]way{"run": dashed}, texts: "--command"},
	"infisical": {ways: map[string]way{"run": dashed}, texts: "--command"},
	"wsl":       {ways: map[string]way{"": dashed}, takes: "-d --distribution -u --user", dirs: "--cd"},
	"cmd":       {ways: wraps, windows: true},

	"mcp-proxy": {ways: map[string]way{"": dashed}, takes: "-e --env -H --headers --transport --port --host --sse-port --sse-host --log-level --allow-origin --named-server --named-server-config " +
		"--client-id --client-secret --token-url --endpoint --server --sseEndpoint --streamEndpoint --apiKey", dirs: "--cwd"},
	"mcp-inspector": {ways: map[string]way{"": dashed}, takes: "-e --config --catalog --server --server-url --transport --header --method --tool-name --tool-arg --uri --prompt-name --prompt-args"},
	"sh":            shells, "bash": shells, "zsh": shells, "dash": shells, "ksh": shells, "fish": shells,
}

var pythonVersion = lazy.Regexp(`^python[0-9][0-9.]*$`)

func launcherOf(word string) (launcher, bool) {
	name := Program([]string{word})
	if pythonVersion().MatchString(name) {
		name = "python"
	}
	l, ok := launchers[name]
	return l, ok
}
