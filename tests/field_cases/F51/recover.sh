# The last real handoff is the one that is whole, not the latest.
[ "$(wc -l <h.md)" -ge 60 ] && exit 0
for a in $(ls -r arch-*.md); do
  [ "$(wc -l <"$a")" -ge 60 ] && { cp "$a" h.new && mv h.new h.md; exit; }
done
exit 1
