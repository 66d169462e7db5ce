//go:build !linux

package configs

// immutable says how to find out why the owner of a file may not change it.
const immutable = "ls -ldO shows if the file or its directory is locked (uchg), and chflags nouchg ends that"
