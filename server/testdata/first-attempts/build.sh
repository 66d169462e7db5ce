#!/bin/sh
for i in $(seq 60); do printf '\rbuilding %d%%' $i; sleep 0.01; [ $i != 20 ] || printf '\rerror: no such header: foo.h\n'; done; echo; exit 2
