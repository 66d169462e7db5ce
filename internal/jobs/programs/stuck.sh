#!/bin/sh
# Hangs, and ignores the keyboard's signals.
trap '' INT QUIT TSTP
echo "waiting for a lock"
while :; do sleep 1; done
