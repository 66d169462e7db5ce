// Package configs reads the config files of agent clients: where they are, in which layers,
// who owns them, which entry a client uses, and what that entry runs. It writes nothing.
package configs
