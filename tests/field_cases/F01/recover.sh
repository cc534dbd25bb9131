# The same work, but with nothing to wait for on stdin. Done once is enough.
[ "$(cat out 2>/dev/null)" = ok ] && exit 0
python3 -c 'import sys; sys.stdin.read(); open("out.new","w").write("ok")' </dev/null && mv out.new out
