import sys, termios, tty
dishes = ["soup", "salad", "stew", "pie", "tea"]
at = 0
tty.setcbreak(0)
while True:
    sys.stdout.write("\033[H\033[J" + "".join(("> " if i == at else "  ") + d + "\r\n" for i, d in enumerate(dishes)))
    sys.stdout.flush()
    c = sys.stdin.buffer.raw.read(1)
    if c == b"\033":
        c += sys.stdin.buffer.raw.read(2)
    at = min(at + 1, 4) if c[2:] == b"B" else max(at - 1, 0) if c[2:] == b"A" else at
    if c in b"\r\n":
        break
print("you chose", dishes[at], flush=True)
sys.stdin.buffer.raw.read(1)
