package server

import "slices"

// limited keeps the last lines: at most maxLines, and at most maxBytes when joined; nil
// means no limit. It returns how many lines and bytes it omitted.
func limited(lines []string, maxLines, maxBytes *int) (kept []string, cutLines, cutBytes int) {
	kept, _ = lastLines(lines, maxLines)
	if maxBytes != nil && len(kept) > 0 {
		n := max(1, fitting(kept, *maxBytes+1, lineSize))
		kept = slices.Clone(kept[len(kept)-n:])
		if n == 1 {
			kept[0] = tail(kept[0], *maxBytes)
		}
	}
	for _, l := range lines {
		cutBytes += lineSize(l)
	}
	for _, l := range kept {
		cutBytes -= lineSize(l)
	}
	return kept, len(lines) - len(kept), cutBytes
}

// fitting returns how many of the last lines fit in room bytes. size returns the size of a
// line.
func fitting(lines []string, room int, size func(line string) int) (n int) {
	for n < len(lines) {
		if room -= size(lines[len(lines)-1-n]); room < 0 {
			break
		}
		n++
	}
	return n
}

// lineSize returns the size of a line with its newline.
func lineSize(line string) int { return len(line) + 1 }
