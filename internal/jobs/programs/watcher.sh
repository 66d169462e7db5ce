#!/bin/sh
# Runs the tests whenever the file input changes, on a cleared screen.
last=
while :; do
	now=$(cat input)
	if [ "$now" != "$last" ]; then
		sleep 0.5
		printf '\033[2J\033[3J\033[H'
		cat "result.$now"
		echo "watching for changes"
		last=$now
	fi
	sleep 0.1
done
