#!/bin/sh
# A test suite with 5,000 lines of output.
echo run >>suite.runs
cat suite.log
sleep 0.3
exit 1
