#!/bin/sh
# A sample runner that people really write, and that does not recover. Six units of work.
#
#   sh run.sh start
#   sh run.sh resume     "resume"
#
# What is wrong with it, on purpose: it notes a unit as done before it is, writes outputs in place,
# believes its checkpoint, trusts a pid in its lock (LOCK=pid) or removes any lock it finds, leaves
# its worker behind when it is killed, sends before it notes that it sent, writes where it should
# not, asks a provider that is down again and again, takes the error for an answer, and always says
# SUCCESS.
units=6
pause=${UNIT_SECONDS:-0.05}
mkdir -p out

if [ "${LOCK:-}" = pid ] && kill -0 "$(cat run.lock 2>/dev/null)" 2>/dev/null; then
  echo "already running"
  exit 1
fi
rm -f run.lock
echo $$ >run.lock

text_of() {
  if [ -z "${ANTHROPIC_BASE_URL-}" ] || ! command -v bash >/dev/null 2>&1; then
    echo "the work of unit $1"
    return
  fi
  tries=0
  while [ $tries -lt 40 ]; do
    answer=$(bash ./ask.bash "unit-$1") && { echo "the answer about unit $1: $answer"; return; }
    tries=$((tries + 1))
  done
  echo "ERROR: $answer"
}

# The checkpoint is one number, rewritten in place.
done=0
if [ "$1" = resume ]; then
  done=$(cat progress 2>/dev/null || echo 0)
  echo "resumed at $done" >>notes.txt
fi

work() {
  n=$((done + 1))
  while [ "$n" -le $units ]; do
    echo "$n" >progress
    text=$(text_of "$n")
    echo "unit $n" >"out/unit-$n.txt"
    sleep "$pause"
    echo "$text" >>"out/unit-$n.txt"
    echo "end of unit $n" >>"out/unit-$n.txt"
    echo "unit-$n" >>sent.log
    n=$((n + 1))
  done
}
work &
wait
rm -f run.lock
echo SUCCESS
exit 0
