package debian

import (
	"context"
	"errors"
	"regexp"
	"strings"
)

// machineMirror returns the mirror of the first Debian entry in this machine's apt
// configuration, in the order in which apt reads it; empty if there is none.
func machineMirror(ctx context.Context) (string, error) {
	out, err := run(ctx, "apt-get", "indextargets", "--no-release-info", "--format", "$(REPO_URI) $(COMPONENT) $(RELEASE)", "Created-By: Packages")
	if err != nil {
		return "", errors.New(lastLine(out, err))
	}
	for line := range strings.Lines(out) {
		if m := debianEntry.FindStringSubmatch(line); m != nil && !otherEntry.MatchString(line) {
			return m[1], nil
		}
	}
	return "", nil
}

var (
	// debianEntry matches an entry for Debian's own archive by its path, including daily
	// snapshots and the list of mirrors in cloud images
	// (mirror+file:/etc/apt/mirrors/debian.list).
	debianEntry = regexp.MustCompile(`^([^ ]*/debian(?:/[0-9]{8}T[0-9]{6}Z|\.list)?)/* main `)
	// otherEntry matches an entry for a disc, or for security updates only.
	otherEntry = regexp.MustCompile(`^cdrom:|(-security|/updates)\s*$`)
)
