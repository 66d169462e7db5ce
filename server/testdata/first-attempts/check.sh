#!/bin/sh
sleep 0.3; exit ${TMUX_PANE#%}
