#!/bin/sh
# Prints for a while, never says that it is ready, and takes a line then.
for pause in 0.3 0.8 0.2 1.1 0.6 0.4; do
	echo "loading index, part $pause"
	sleep $pause
done
echo "part 7 of 7"
date +%s >silent
read -r line
date +%s >answered
echo "$line" >line
echo "result: $(cat code)"
