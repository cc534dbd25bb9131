# Removes the lock of an owner that is proven dead: this host, and no such process.
[ -s repo/data ] && exit 0
read -r host pid since <repo/lock || exit 75
[ "$host" = "$(hostname)" ] || { echo "the lock is of another host" >&2; exit 75; }
if ps -p "$pid" >/dev/null 2>&1; then echo "the owner is alive" >&2; exit 75; fi
mv repo/lock "repo/lock.dead.$pid"
echo backup >repo/data.new && mv repo/data.new repo/data
