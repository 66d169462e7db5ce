package server

// limited keeps the last lines: at most maxLines, and at most maxBytes when joined; nil
// means no limit. It returns how many lines and bytes it omitted.
func limited(lines []string, maxLines, maxBytes *int) (kept []string, cutLines, cutBytes int) {
	kept, cutLines = lastLines(lines, maxLines)
	for _, l := range lines[:cutLines] {
		cutBytes += len(l) + 1
	}
	if maxBytes == nil {
		return kept, cutLines, cutBytes
	}
	size := max(0, len(kept)-1)
	for _, l := range kept {
		size += len(l)
	}
	for len(kept) > 1 && size > *maxBytes {
		size -= len(kept[0]) + 1
		cutBytes += len(kept[0]) + 1
		cutLines++
		kept = kept[1:]
	}
	if size > *maxBytes {
		cut := tail(kept[0], *maxBytes)
		cutBytes += len(kept[0]) - len(cut)
		kept = []string{cut}
	}
	return kept, cutLines, cutBytes
}
