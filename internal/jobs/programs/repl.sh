#!/bin/sh
# A REPL that every system has: a shell with other prompts.
PS1='>>> ' PS2='... ' ENV= exec sh -i
