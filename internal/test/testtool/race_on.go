//go:build race

package testtool

const RaceFactor = 4
