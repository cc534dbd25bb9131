#!/bin/sh
# A sample runner that recovers. POSIX sh, so that it runs anywhere. Six units of work; the same
# command starts and resumes:
#
#   sh run.sh            do what is not done yet
#
# It leaves: out/unit-N.txt (the work), state.jsonl (the checkpoint), sent.log (one effect a unit).
#
# Exit codes: 0 done · 75 stood down, because another run is (or may be) alive · 1 failed.
set -u
LC_ALL=C
export LC_ALL
umask 077

units=6
lock=run.lock
worker_file=run.worker
state=state.jsonl
sent=sent.log
pause=${UNIT_SECONDS:-0.05}

say() { printf 'run.sh: %s\n' "$*" >&2; }

# A name for one process that no later process can have: boot, pid and start time.
boot_id() {
  if [ -r /proc/sys/kernel/random/boot_id ]; then
    read -r id </proc/sys/kernel/random/boot_id && printf '%s' "$id"
  else
    ps -o lstart= -p 1 2>/dev/null | tr -s ' ' '_'
  fi
}
start_of() {
  if [ -r "/proc/$1/stat" ]; then
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20
  else
    ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' '_'
  fi
}
is_alive() { # PID START
  [ -n "$2" ] && [ "$(start_of "$1")" = "$2" ] || return 1
  case $(ps -o stat= -p "$1" 2>/dev/null) in Z* | '') return 1 ;; esac
  return 0
}
claim() { printf 'host=%s boot=%s pid=%s start=%s\n' "$(uname -n)" "$(boot_id)" "$1" "$(start_of "$1")"; }

# Reads a claim into c_host, c_boot, c_pid and c_start. Fails when anything about it is unclear.
read_claim() { # FILE
  c_host= c_boot= c_pid= c_start= claim_line=
  [ -r "$1" ] || return 1
  claim_line=$(cat "$1" 2>/dev/null) || return 1
  for field in $claim_line; do
    case $field in
      host=*) c_host=${field#host=} ;;
      boot=*) c_boot=${field#boot=} ;;
      pid=*) c_pid=${field#pid=} ;;
      start=*) c_start=${field#start=} ;;
    esac
  done
  case $c_pid in '' | *[!0-9]*) return 1 ;; esac
  [ -n "$c_host" ] && [ -n "$c_boot" ] && [ -n "$c_start" ]
}

stand_down() { say "$*"; say "Nothing was done. Look at it, then remove it by hand if it is stale."; exit 75; }

# Takes the lock, or stands down. A claim is only set aside when its owner is proven dead.
take_lock() {
  claim $$ >"$lock.new.$$"
  until ln "$lock.new.$$" "$lock" 2>/dev/null; do
    if [ ! -e "$lock" ] && [ ! -h "$lock" ]; then continue; fi
    read_claim "$lock" || {
      rm -f "$lock.new.$$"
      stand_down "cannot read who owns $lock"
    }
    if [ "$c_host" != "$(uname -n)" ]; then
      rm -f "$lock.new.$$"
      stand_down "$lock belongs to another machine ($c_host)"
    fi
    if [ "$c_boot" = "$(boot_id)" ] && is_alive "$c_pid" "$c_start"; then
      rm -f "$lock.new.$$"
      say "another run is alive (pid $c_pid); leaving it alone"
      exit 75
    fi
    old=$claim_line
    mv "$lock" "$lock.stale.$$" 2>/dev/null || continue
    if [ "$(cat "$lock.stale.$$" 2>/dev/null)" != "$old" ]; then
      # Somebody else took it in between: give it back.
      ln "$lock.stale.$$" "$lock" 2>/dev/null
      rm -f "$lock.stale.$$"
      continue
    fi
    rm -f "$lock.stale.$$"
    say "took over the lock of a dead run (pid $c_pid)"
  done
  rm -f "$lock.new.$$"
}
release_lock() {
  read_claim "$lock" && [ "$c_pid" = $$ ] && rm -f "$lock"
}

# The last run's worker may have outlived it. It ends by itself; until then nothing may be touched.
await_old_worker() {
  tries=0
  while read_claim "$worker_file" && [ "$c_boot" = "$(boot_id)" ] && is_alive "$c_pid" "$c_start"; do
    tries=$((tries + 1))
    [ $tries -le 200 ] || { release_lock; stand_down "the worker of a dead run is still alive (pid $c_pid)"; }
    sleep 0.1
  done
  rm -f "$worker_file"
}

is_whole() { [ -s "out/unit-$1.txt" ] && [ "$(tail -n 1 "out/unit-$1.txt")" = "end of unit $1" ]; }
record_of() { printf '{"unit":"unit-%s","path":"out/unit-%s.txt"}' "$1" "$1"; }
good_records() { sed -n '/^{"unit":"unit-[0-9]*","path":"out\/unit-[0-9]*\.txt"}$/p' "$state" 2>/dev/null; }

# Brings the checkpoint in step with the disk: damage is set aside, claims need a whole output, and
# a whole output without a claim gets one.
mend_state() {
  fresh=$state.new.$$
  i=1
  : >"$fresh"
  while [ $i -le $units ]; do
    if is_whole $i && grep -q -x -F "unit-$i" "$sent" 2>/dev/null; then record_of $i >>"$fresh"; echo >>"$fresh"; fi
    i=$((i + 1))
  done
  if [ -e "$state" ] && ! cmp -s "$fresh" "$state"; then
    if [ -s "$state" ] && [ "$(good_records)" != "$(cat "$state" 2>/dev/null)" ]; then
      cp "$state" "$state.damaged.$$"
      say "the checkpoint was damaged; the old one is kept as $state.damaged.$$"
    fi
    mv "$fresh" "$state"
  elif [ ! -e "$state" ] && [ -s "$fresh" ]; then
    mv "$fresh" "$state"
  else
    rm -f "$fresh"
  fi
}

# Sends one effect for a unit, unless it was sent before. The log is the receiver's, so it decides.
send_once() {
  grep -q -x -F "unit-$1" "$sent" 2>/dev/null || printf 'unit-%s\n' "$1" >>"$sent"
}

do_unit() {
  if ! is_whole "$1"; then
    {
      printf 'unit %s\n' "$1"
      sleep "$pause"
      printf 'the work of unit %s\nend of unit %s\n' "$1" "$1"
    } >"out/.unit-$1.tmp.$$"
    mv "out/.unit-$1.tmp.$$" "out/unit-$1.txt"
  fi
  send_once "$1"
  record_of "$1" >"$state.line.$$"
  good_records | grep -q -x -F -f "$state.line.$$" || { cat "$state.line.$$"; echo; } >>"$state"
  rm -f "$state.line.$$"
}

# The worker does the units. It looks before each one whether the run that started it still lives.
work() { # OWNER_PID OWNER_START
  claim $$ >"$worker_file.new.$$"
  mv "$worker_file.new.$$" "$worker_file"
  n=1
  while [ $n -le $units ]; do
    is_alive "$1" "$2" || { say "the run that started this worker is gone; ending"; exit 1; }
    do_unit $n
    n=$((n + 1))
  done
}

if [ "${1:-}" = work ]; then
  work "$2" "$3"
  exit 0
fi

mkdir -p out || exit 1
take_lock
await_old_worker
rm -f out/.unit-*.tmp.* "$state".line.* "$state".new.* "$worker_file".new.*
mend_state
sh "$0" work $$ "$(start_of $$)" &
wait $!
code=$?
rm -f "$worker_file"
n=1
while [ $n -le $units ]; do
  is_whole $n || { say "unit $n is not whole"; code=1; }
  n=$((n + 1))
done
release_lock
exit $code
