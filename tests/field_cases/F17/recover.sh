# The rows on disk say how far the work is; the offset follows them.
for n in 1 2 3 4 5 6; do
  grep -qx "row$n" rows 2>/dev/null || echo "row$n" >>rows
  echo "$n" >offset.new && mv offset.new offset
done
