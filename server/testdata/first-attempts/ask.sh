# ask asks something, and notes what was typed before in the file early.
ask() {
	sleep 0.3
	stty -icanon -echo min 0 time 0
	dd bs=100 count=1 2>/dev/null >>early
	stty icanon echo
	printf '%s ' "$1"
	read -r a
	answers="$answers $a"
}
