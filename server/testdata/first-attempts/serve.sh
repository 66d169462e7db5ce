#!/bin/sh
sleep 0.5; echo "server is ready"; exec sleep 1000
