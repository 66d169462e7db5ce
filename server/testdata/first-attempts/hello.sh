#!/bin/sh
printf 'What is your name? '; read -r name; echo "hello $name"
