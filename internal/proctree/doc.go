// Package proctree ends a process and everything that it has started, including daemons with a
// session of their own. It works on Linux only: other systems have no way to adopt the
// processes of a daemon.
package proctree
