#!/bin/sh
# Fifteen seconds with a progress bar.
echo run >>upload.runs
i=0
while [ $i -lt 150 ]; do
	i=$((i + 1))
	printf '\ruploading [%-30s] %3d%%' "$(printf '%*s' $((i / 5)) '' | tr ' ' '#')" $((i * 2 / 3))
	sleep 0.09
done
echo ended >upload.ended
printf '\nsent 3 files, 1 rejected\nreceipt %s\n' "$(cat code)"
exit 4
