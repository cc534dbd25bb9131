/**
 * The text of the worker; what it does is told in worker.ts.
 *
 * @module
 */
import {
  CHECKPOINT_NAME,
  EFFECTS_NAME,
  END_MARK,
  WORKER_DAMAGED_EXIT,
  WORKER_NOT_SENT_EXIT,
  WORKER_STOOD_DOWN_EXIT,
} from "./_worker_words.ts";

/** The text of the worker. Written for `dash`, `bash` in POSIX mode and the `sh` of macOS alike. */
export const WORKER_SCRIPT = `# The worker of failure-lab: units of work, one after another.
set -u
LC_ALL=C; export LC_ALL
exec >>"$WORKER_LOG" 2>&1

# A helper that the worker starts: sh worker.sh helper KIND UNIT
if [ "\${1-}" = helper ]; then
  case $2 in
    brief) sleep 0.03; exit 0 ;;
    deaf) trap '' TERM HUP INT ;;
    stopped) kill -STOP $$ ;;
  esac
  n=0
  while :; do
    n=$((n + 1))
    # Where its folder is gone, nobody is left who could end it.
    printf '%s: draft %d\\n' "$3" $n >"out/$3.txt" || exit
    sleep 0.015 2>/dev/null || sleep 1
  done
fi

nap() { sleep "$WORKER_PAUSE" 2>/dev/null || sleep 1; }
if command -v sha256sum >/dev/null 2>&1; then hasher=sha256sum; else hasher='shasum -a 256'; fi

content_of() {
  content=
  for i in 1 2 3 4 5 6; do content="$content$1: line $i of its work
"; done
  content="$content${END_MARK}
"
}

# Which units are done already: their names between blanks, in $finished.
load() {
  finished=' '; damaged=0
  if [ "$WORKER_LOAD" = disk ]; then
    for file in out/unit-*.txt; do
      [ -s "$file" ] && [ "$(tail -n 1 "$file")" = '${END_MARK}' ] || continue
      name=\${file#out/}; finished="$finished\${name%.txt} "
    done
    return
  fi
  [ -e ${CHECKPOINT_NAME} ] || return
  while line=; IFS= read -r line || { [ -n "$line" ] && damaged=$((damaged + 1)); }; do
    case $line in
      ?*'{'*) [ "$WORKER_LOAD" = skip-bad ] || { damaged=$((damaged + 1)); continue; } ;;
    esac
    case $line in
      '{"unit":"unit-'[0-9][0-9]'","path":"out/'*',"sha256":"'*'"}')
        name=\${line#'{"unit":"'}; finished="$finished\${name%%'"'*} " ;;
      *) damaged=$((damaged + 1)) ;;
    esac
  done <${CHECKPOINT_NAME}
}

is_whole() { [ -s "out/$1.txt" ] && [ "$(tail -n 1 "out/$1.txt")" = '${END_MARK}' ]; }

make() {
  # With a receiver outside, a whole output is kept: the doubt is about the message alone.
  [ "$WORKER_EFFECTS" = no ] || ! is_whole "$1" || return 0
  printf %s "$content" >"out/.$1.$$.tmp"
  nap
  mv "out/.$1.$$.tmp" "out/$1.txt"
  echo "out/$1.txt" >>writes.log
}

claim() {
  [ "$WORKER_CHECKPOINT" = yes ] || return 0
  sum=$(printf %s "$content" | $hasher)
  printf '{"unit":"%s","path":"out/%s.txt","bytes":%s,"by":"wörker","sha256":"%s"}\\n' \\
    "$1" "$1" "\${#content}" "\${sum%% *}" >>${CHECKPOINT_NAME}
}

# Hands the unit's message to the courier and waits for its answer.
send() {
  case $WORKER_EFFECTS in
    no) return 0 ;;
    plain) printf '%s\\n' "$1" >>${EFFECTS_NAME}; return 0 ;;
  esac
  while :; do
    letters=$((letters + 1)); letter="../courier/$1.$$.$letters"
    printf '%s\\n' "$1" >"$letter.new"; mv "$letter.new" "$letter.ask"
    while [ ! -e "$letter.answer" ]; do nap; done
    read -r answer <"$letter.answer"
    case $answer in
      sent) return 0 ;;
      already)
        # Sent before, and claimed meanwhile: another run is at work, and it is not us.
        grep -q '^{"unit":"'"$1"'"' ${CHECKPOINT_NAME} 2>/dev/null || return 0
        echo "$1: another run has done it; standing down"; exit ${WORKER_STOOD_DOWN_EXIT} ;;
      busy) nap ;;
      *) echo "$1: not sent: $answer"; exit ${WORKER_NOT_SENT_EXIT} ;;
    esac
  done
}

# A place inside a unit at which a cue can come.
at() { [ "$WORKER_CUE" != "$1" ] || [ $number -ne "$WORKER_CUE_AT" ] || { echo "$unit: holding"; hold; }; }
hold() { if [ "$WORKER_CUE" = stop-before-send ]; then kill -STOP $$; else sleep 60; fi; }

do_unit() {
  content_of "$1"
  case $WORKER_ORDER in
    work-first) make "$1"; at stop-before-send; send "$1"; at hold-after-send; claim "$1" ;;
    record-first) make "$1"; claim "$1"; at hold-after-claim; send "$1" ;;
    answer-first) send "$1"; make "$1"; claim "$1" ;;
  esac
  echo "$1 done"
}

# Two starts at once: each looks for a label and puts its own, and between the two lies a moment.
take() {
  [ "$WORKER_CUE" = together ] || return 0
  [ ! -e "labels/$1" ] || return 1
  [ $number -eq "$WORKER_CUE_AT" ] || { mkdir -p labels; : >"labels/$1"; return 0; }
  : >"../at-$1.$$"
  patience=0
  while [ ! -e ../go ] && [ $patience -lt 500 ]; do nap; patience=$((patience + 1)); done
  mkdir -p labels; : >"labels/$1"
}

repeat() { while [ -d out ]; do "$@"; sleep 0.02 2>/dev/null || sleep 1; done; }
beat() { : >heartbeat; }
ask() {
  echo "$1: the output exists elsewhere. Overwrite it? [y/N]"
  read -r answer || answer=N
  [ -z "\${helper-}" ] || kill "$helper"
  echo "$1: answer is $answer"
}

cue() {
  [ -z "$WORKER_CUE_ONCE" ] || mkdir "$WORKER_CUE_ONCE" 2>/dev/null || return 0
  case $WORKER_CUE in
    ask) ask "$1" ;;
    ask-beating) repeat beat & helper=$!; ask "$1" ;;
    ask-chatty) repeat echo "$1: still working" & helper=$!; ask "$1" ;;
    hold) echo "$1: holding"; sleep 60 ;;
    child-brief) sh "$0" helper brief "$1" & ;;
    child*)
      echo $$ >leader.pid
      kind=\${WORKER_CUE#child}; kind=\${kind#-}
      case $kind in
        session) if command -v setsid >/dev/null 2>&1; then setsid sh "$0" helper plain "$1" &
          else (set -m; sh "$0" helper plain "$1" &); fi ;;
        fork) (sh "$0" helper plain "$1" &) ;;
        *) sh "$0" helper "\${kind:-plain}" "$1" & ;;
      esac
      echo "$1: holding"; sleep 60 ;;
    stray)
      # Writes where it should not: through a link that it makes first, or by the path that it is given.
      [ -z "$WORKER_LINK" ] || { rm -rf "$WORKER_LINK"; ln -s "$WORKER_LINK_TO" "$WORKER_LINK"; }
      [ -z "$WORKER_STRAY" ] || { echo "$WORKER_STRAY" >>writes.log; echo stray >"$WORKER_STRAY"; } ;;
    hollow) echo SUCCESS; exit 0 ;;
    hollow-empty)
      n=1
      while [ $n -le "$WORKER_UNITS" ]; do
        : >"out/$(printf 'unit-%02d' $n).txt"; n=$((n + 1))
      done
      echo SUCCESS; exit 0 ;;
    hollow-last) : >"out/$1.txt"; echo SUCCESS; exit 0 ;;
    hollow-half) echo "$1: line 1 of its work" >"out/$1.txt"; echo SUCCESS; exit 0 ;;
  esac
}

mkdir -p out
letters=0
load
if [ $damaged -gt 0 ] && [ "$WORKER_LOAD" = strict ]; then
  echo "${CHECKPOINT_NAME}: $damaged damaged line(s); not working on a checkpoint that lies" >&2
  exit ${WORKER_DAMAGED_EXIT}
fi
number=1
while [ $number -le "$WORKER_UNITS" ]; do
  if [ $number -lt 10 ]; then unit=unit-0$number; else unit=unit-$number; fi
  case $finished in
    *" $unit "*) ;;
    *)
      [ $number -ne "$WORKER_CUE_AT" ] || cue "$unit"
      if take "$unit"; then do_unit "$unit"; fi ;;
  esac
  number=$((number + 1))
done
echo SUCCESS
`;
