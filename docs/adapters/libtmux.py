#!/usr/bin/env python3
"""An adapter with which mcp-conform tests libtmux, from 0.21 on. docs/adapters.md has the protocol.

    mcp-conform --api 'python3 docs/adapters/libtmux.py'
    mcp-conform --api 'PYTHONPATH=libtmux/src python3 docs/adapters/libtmux.py'
"""

import dataclasses
import inspect
import json
import os
import sys
import traceback
import warnings

# Standard input and output are for messages. libtmux and the programs that it starts have
# nothing to read, and what they print goes to standard error.
requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)

# This file has the name of what it imports: its own directory must not be searched.
here = os.path.dirname(os.path.realpath(__file__))
sys.path = [p for p in sys.path if os.path.realpath(p) != here]

import libtmux  # noqa: E402

LIBTMUX, NO_METHOD, NO_ARGUMENT, ADAPTER = 1, -32601, -32602, -32603  # codes of errors


class Failed(Exception):  # becomes the error of an answer
    def __init__(self, code, text, **data):
        self.error = {"code": code, "message": text, "data": {k: v for k, v in data.items() if v}}


def check_arguments(function, where, names):
    for name in names:
        if name not in inspect.signature(function).parameters:
            raise Failed(NO_ARGUMENT, f"no argument {name} of {where}")


def call(obj, name, *args, **kwargs):
    """Call a method of libtmux, or read a property. What it raises is libtmux's error."""
    kwargs = {k: v for k, v in kwargs.items() if v is not None}  # None: not asked for
    cls = obj if inspect.isclass(obj) else type(obj)
    member = getattr(cls, name, None)
    if member is None:
        raise Failed(NO_METHOD, f"no {cls.__name__}.{name}")
    check_arguments(member, f"{cls.__name__}.{name}", kwargs)
    try:
        return getattr(obj, name)(*args, **kwargs) if callable(member) else getattr(obj, name)
    except Exception as e:
        command = getattr(e, "subcommand", None)
        raise Failed(LIBTMUX, str(e), type=type(e).__name__, command=command) from e


def row(obj):
    """All typed fields, with or without a value; the server and enumerations are not tmux's."""
    fields = {f.name: getattr(obj, f.name) for f in dataclasses.fields(obj)}
    return {k: v for k, v in fields.items() if isinstance(v, (str, int, float, list, type(None)))}


class Adapter:
    """The verbs, and what they share."""

    def describe(self, protocol):
        return {"protocol": 1, "name": "libtmux", "version": libtmux.__version__,
                "language": "python", "url": "https://github.com/tmux-python/libtmux"}

    def open(self, tmux, socket, version):
        has_tmux_bin = "tmux_bin" in inspect.signature(libtmux.Server).parameters  # else PATH's
        args = {"tmux_bin": tmux} if has_tmux_bin else {}
        self._server = libtmux.Server(socket_path=socket, **args)
        self._objects = {"server": self._server}

    def _find(self, id):
        """Find an object when its id is first named, and keep it, as a program would."""
        if id not in self._objects:
            kind = {"%": "Pane", "@": "Window", "$": "Session"}.get(id[0], "Client")
            if not hasattr(libtmux, kind):
                raise Failed(NO_METHOD, f"no {kind}")
            key = "client_name" if kind == "Client" else kind.lower() + "_id"
            args = {"server": self._server, key: id}
            self._objects[id] = call(getattr(libtmux, kind), "from_" + key, **args)
        return self._objects[id]

    def display(self, format, target="server"):
        return {"lines": call(self._find(target), "display_message", format, get_text=True)}

    def get(self, target):
        call(self._find(target), "refresh")
        return {"row": row(self._find(target))}

    def list(self, kind, within="server", filter=None, format=None):
        if kind == "buffers":
            args = {"format_string": format or "#{buffer_name}", "filter": filter}
            lines = call(self._find(within), "list_buffers", **args)
            return {"lines": lines} if format else {"rows": [{"buffer_name": n} for n in lines]}
        name = kind if filter is None else "search_" + kind
        if format is not None:
            raise Failed(NO_ARGUMENT, f"no argument for the format of {name}")
        return {"rows": [row(o) for o in call(self._find(within), name, filter=filter)]}

    def send_keys(self, pane, keys, literal=None, reset=None, repeat=None):
        if len(keys) > 1:
            raise Failed(NO_ARGUMENT, "no argument for a second key of Pane.send_keys")
        args = {"literal": literal, "reset": reset, "repeat": repeat}
        call(self._find(pane), "send_keys", *keys, enter=False, **args)

    def reset(self, pane):
        call(self._find(pane), "reset")

    def capture(self, pane, pending=None):
        return {"lines": call(self._find(pane), "capture_pane", pending=pending)}

    def run_shell(self, command, dir=None, stderr=None, background=None, delay=None, commands=None,
                  target=None):
        args = {"cwd": dir, "show_stderr": stderr, "background": background, "delay": delay,
                "as_tmux_command": commands, "target_pane": target}
        return {"lines": call(self._server, "run_shell", command, **args) or []}

    def new_session(self, name):
        return {"row": row(call(self._server, "new_session", session_name=name))}

    def select_window(self, session, window):
        return {"row": row(call(self._find(session), "select_window", window))}

    def last_window(self, session):
        return {"row": row(call(self._find(session), "last_window"))}

    def command(self, target, name, args):
        ran = call(self._find(target), "cmd", name, *args)
        return {"lines": ran.stdout, "stderr": "\n".join(ran.stderr), "exit_code": ran.returncode}


warned = []  # what libtmux warns of during a call
warnings.simplefilter("always")
warnings.showwarning = lambda message, *_: warned.append(str(message))
adapter = Adapter()
for request in map(json.loads, requests):
    method, params, answer = request["method"], request.get("params", {}), {}
    warned.clear()
    try:
        if method.startswith("_") or not hasattr(adapter, method):
            raise Failed(NO_METHOD, f"no {method}")
        verb = getattr(adapter, method)
        check_arguments(verb, method, params)
        answer["result"] = {**(verb(**params) or {}), "warnings": warned}
    except Failed as e:
        answer["error"] = e.error
    except Exception as e:
        traceback.print_exc()
        answer["error"] = {"code": ADAPTER, "message": repr(e)}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), file=answers, flush=True)
