#!/bin/sh
# A sample runner that people really write, and that does not recover. Six units of work.
#
#   sh run.sh            start
#   sh run.sh resume     "resume"
#
# What is wrong with it, on purpose: it believes its checkpoint, writes outputs in place, takes a
# lock by pid only and removes any lock it finds, sends before it notes that it sent, counts on the
# next number instead of looking, and always says SUCCESS.
units=6
pause=${UNIT_SECONDS:-0.05}
mkdir -p out

rm -f run.lock
echo $$ >run.lock

# The checkpoint is one number, rewritten in place.
done=0
[ "$1" = resume ] && done=$(cat progress 2>/dev/null || echo 0)

n=$((done + 1))
while [ "$n" -le $units ]; do
  echo "$n" >progress
  echo "unit $n" >"out/unit-$n.txt"
  sleep "$pause"
  echo "the work of unit $n" >>"out/unit-$n.txt"
  echo "end of unit $n" >>"out/unit-$n.txt"
  echo "unit-$n" >>sent.log
  n=$((n + 1))
done
rm -f run.lock
echo SUCCESS
exit 0
