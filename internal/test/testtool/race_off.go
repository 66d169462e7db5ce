//go:build !race

package testtool

// RaceFactor is how much more memory and processor time a test takes because of how it was
// built: the race detector needs several times as much.
const RaceFactor = 1
