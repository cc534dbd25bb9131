# Nobody has the lock open and it does not change: it is moved aside, and the real index is intact.
cd r || exit 1
git rev-parse -q --verify HEAD >/dev/null && exit 0
a=$(cksum <.git/index.lock); sleep 0.3; [ "$a" = "$(cksum <.git/index.lock)" ] || exit 75
mv .git/index.lock .git/index.lock.aside
git add a && git -c user.name=a -c user.email=a@b.c commit -qm add && echo "$(git rev-parse HEAD)" >../committed
