package commands

import (
	"path/filepath"
	"slices"
	"strings"
)

// isContainer reports whether a command is one of docker or podman.
func isContainer(argv []string) bool {
	name := Program(argv)
	return name == "docker" || name == "podman"
}

// image returns the index of docker run's image in the arguments of docker, or len(args). It calls
// flag for each flag before the image, with the word that may be its value.
func image(args []string, flag func(name, value string)) int {
	const takes = "-v --volume --mount -w --workdir -e --env -p --publish -u --user --name --network --net -l --label --env-file --entrypoint --platform --add-host -h --hostname --memory -m --cpus --pull --gpus --ip --dns --cap-add --cap-drop --device --tmpfs --ulimit --restart --security-opt --log-driver"
	i := slices.Index(args, "run")
	if i < 0 {
		return len(args)
	}
	for i++; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			return i
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		flag(name, value)
		if !joined && has(takes, name) {
			i++
		}
	}
	return len(args)
}

// container returns what a container starts from a directory that is mounted from this machine.
func (s starter) container(args []string) Started {
	in, mounts := starter{}, map[string]string{}
	i := image(args, func(flag, value string) {
		switch flag {
		case "-v", "--volume":
			if from, to, ok := strings.Cut(value, ":"); ok {
				to, _, _ = strings.Cut(to, ":")
				mounts[to] = from
			}
		case "--mount":
			fields := map[string]string{}
			for _, f := range strings.Split(value, ",") {
				k, v, _ := strings.Cut(f, "=")
				fields[k] = v
			}
			from, to := fields["src"]+fields["source"], fields["dst"]+fields["target"]+fields["destination"]
			mounts[to] = from
		case "-w", "--workdir":
			in.dir = value
		}
	})
	if i+1 >= len(args) {
		return Started{}
	}
	at := in.command(args[i+1:]).Place
	for to, from := range mounts {
		if rel, err := filepath.Rel(to, at); at != "" && to != "" && err == nil && filepath.IsLocal(rel) {
			return Started{Place: s.at(filepath.Join(from, rel))}
		}
	}
	return Started{}
}
