package tool

// Items counts what became of the items of a call.
type Items struct {
	Succeeded int  `json:"succeeded"`
	Failed    int  `json:"failed"`
	StoppedAt *int `json:"stopped_at"`
}

// EachItem calls do for each of n items, in order, which reports whether it succeeded. If
// onError is "stop", it ends at the first that did not.
func EachItem(n int, onError string, do func(i int) bool) (items Items) {
	for i := range n {
		if do(i) {
			items.Succeeded++
			continue
		}
		items.Failed++
		if onError == "stop" {
			items.StoppedAt = &i
			break
		}
	}
	return items
}
