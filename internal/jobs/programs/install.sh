#!/bin/sh
# Asks a question, and for a secret without echo. It notes what was typed before it asked.
early() {
	stty -icanon -echo min 0 time 0
	dd bs=100 count=1 2>/dev/null >>early
	stty icanon echo
}
echo "checking the target"
sleep 0.7
early
printf 'Install into /opt/app? [y/N] '
read -r answer
echo "$answer" >answer
echo "downloading"
sleep 0.9
early
printf 'Passphrase: '
stty -echo
read -r secret
stty echo
echo "$secret" >secret
printf '\nverifying\n'
sleep 0.5
echo "installed as $(cat code)"
