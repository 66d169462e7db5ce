#!/bin/sh
# A short check that fails.
echo run >>probe.runs
echo "disk: ok"
echo "network: unreachable, code $(cat code)" >&2
exit 3
