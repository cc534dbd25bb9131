#!/bin/sh
# A sample runner that recovers. POSIX sh, so that it runs anywhere. Six units of work; the same
# command starts and resumes:
#
#   sh run.sh            do what is not done yet
#
# It leaves: out/unit-N.txt (the work), state.jsonl (the checkpoint), sent.log (one effect a unit).
# Where ANTHROPIC_BASE_URL is set and bash is there, it asks that provider about each unit.
#
# Exit codes: 0 done · 69 the provider is down, run it again later · 75 stood down, because another
# run is (or may be) alive · 1 failed.
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
nap() { sleep "$1" 2>/dev/null || sleep 1; }

# A name for one process that no later process can have: host, boot, pid and start time.
boot_id() {
  if [ -r /proc/sys/kernel/random/boot_id ]; then
    read -r id </proc/sys/kernel/random/boot_id && printf '%s' "$id"
  else
    ps -o lstart= -p 1 2>/dev/null | tr -s ' ' '_'
  fi
}
# Sets p_state and p_start of a process; both are empty when there is none.
look_at() { # PID
  p_state= p_start=
  if [ -r /proc/self/stat ]; then
    { read -r stat_line <"/proc/$1/stat"; } 2>/dev/null || return 0
    # Fields 3 to 22; the name in front of them can hold blanks and brackets.
    # shellcheck disable=SC2086
    set -- ${stat_line##*) }
    p_state=$1
    p_start=${20}
  else
    p_state=$(ps -o stat= -p "$1" 2>/dev/null)
    p_start=$(ps -o lstart= -p "$1" 2>/dev/null | tr -s ' ' '_')
  fi
}
is_alive() { # PID START
  look_at "$1"
  [ -n "$p_start" ] && [ "$p_start" = "$2" ] || return 1
  case $p_state in [ZX]*) return 1 ;; esac
  return 0
}
own_host=$(uname -n)
own_boot=$(boot_id)
claim() { # PID
  look_at "$1"
  printf 'host=%s boot=%s pid=%s start=%s\n' "$own_host" "$own_boot" "$1" "$p_start"
}

# Reads a claim into c_host, c_boot, c_pid and c_start. Fails when anything about it is unclear.
read_claim() { # FILE
  c_host= c_boot= c_pid= c_start= claim_line=
  [ -f "$1" ] && [ -r "$1" ] || return 1
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
is_there() { [ -e "$1" ] || [ -h "$1" ]; }

stand_down() {
  rm -f "$lock.new.$$"
  say "$*"
  exit 75
}

# Takes the lock, or stands down. A claim is only set aside when its owner is proven dead.
take_lock() {
  claim $$ >"$lock.new.$$"
  # A folder in its place would take the link in, and that is no lock.
  until [ ! -d "$lock" ] && ln "$lock.new.$$" "$lock" 2>/dev/null; do
    is_there "$lock" || continue
    read_claim "$lock" ||
      stand_down "cannot read who owns $lock. Look at it, and remove it by hand if it is stale"
    [ "$c_host" = "$own_host" ] || stand_down "$lock belongs to another machine ($c_host)"
    if [ "$c_boot" = "$own_boot" ] && is_alive "$c_pid" "$c_start"; then
      stand_down "another run is alive (pid $c_pid); leaving it alone"
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
release_lock() { read_claim "$lock" && [ "$c_pid" = $$ ] && rm -f "$lock"; }

# The last run's worker may have outlived it. It ends by itself; until then nothing may be touched.
await_old_worker() {
  tries=0
  while is_there "$worker_file"; do
    read_claim "$worker_file" || {
      release_lock
      stand_down "cannot read who owns $worker_file. Look at it, and remove it by hand if it is stale"
    }
    [ "$c_boot" = "$own_boot" ] && is_alive "$c_pid" "$c_start" || break
    tries=$((tries + 1))
    [ $tries -le 200 ] || {
      release_lock
      stand_down "the worker of a dead run is still alive (pid $c_pid)"
    }
    nap 0.1
  done
  rm -f "$worker_file"
}

is_whole() { [ -s "out/unit-$1.txt" ] && [ "$(tail -n 1 "out/unit-$1.txt")" = "end of unit $1" ]; }
is_sent() { grep -q -x -F "unit-$1" "$sent" 2>/dev/null; }
record_of() { printf '{"unit":"unit-%s","path":"out/unit-%s.txt"}' "$1" "$1"; }
good_records() {
  sed -n '/^{"unit":"unit-[0-9]*","path":"out\/unit-[0-9]*\.txt"}$/p' "$state" 2>/dev/null
}

# Brings the checkpoint in step with the disk: damage is set aside, claims need a whole output, and
# a whole output without a claim gets one.
mend_state() {
  fresh=$state.new.$$
  i=1
  : >"$fresh"
  while [ $i -le $units ]; do
    if is_whole $i && is_sent $i; then { record_of $i; echo; } >>"$fresh"; fi
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

# The text of a unit. With a provider it is the answer; a few tries with growing waits, and never
# less than the provider asks for. Who has to wait long ends instead, and is run again later.
text_of() { # UNIT
  if [ -z "${ANTHROPIC_BASE_URL-}" ] || ! command -v bash >/dev/null 2>&1; then
    printf 'the work of unit %s' "$1"
    return
  fi
  for wait in 0.1 0.3 none; do
    reply=$(bash ./ask.bash "unit-$1")
    code=$?
    case $code in
      0) printf 'the answer about unit %s: %s' "$1" "$reply"; return ;;
      69) case $reply in 0) ;; *) break ;; esac ;;
      *) break ;;
    esac
    [ $wait = none ] || nap $wait
  done
  return $code
}

do_unit() { # UNIT
  if ! is_whole "$1"; then
    text=$(text_of "$1") || { say "unit $1: no answer from the provider"; exit 69; }
    {
      printf 'unit %s\n' "$1"
      nap "$pause"
      printf '%s\nend of unit %s\n' "$text" "$1"
    } >"out/.unit-$1.tmp.$$"
    mv "out/.unit-$1.tmp.$$" "out/unit-$1.txt"
  fi
  # The log is the receiver's, so it knows what has arrived.
  is_sent "$1" || printf 'unit-%s\n' "$1" >>"$sent"
  record=$(record_of "$1")
  grep -q -x -F "$record" "$state" 2>/dev/null || printf '%s\n' "$record" >>"$state"
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
rm -f out/.unit-*.tmp.* "$state".new.* "$worker_file".new.*
mend_state
look_at $$
sh "$0" work $$ "$p_start" &
wait $!
code=$?
rm -f "$worker_file"
n=1
while [ $code -eq 0 ] && [ $n -le $units ]; do
  is_whole $n || { say "unit $n is not whole"; code=1; }
  n=$((n + 1))
done
release_lock
exit $code
