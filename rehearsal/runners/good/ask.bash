#!/usr/bin/env bash
# ask.bash UNIT: asks the model provider once about one unit, and prints the answer's text.
#
# Only what bash itself has (/dev/tcp), so that it runs without curl or Python.
#
# Exit codes: 0 answered · 69 no answer now, try again later (the wait that the provider asks for, in
# seconds, is printed) · 1 refused.
set -u
unit=$1
address=${ANTHROPIC_BASE_URL#http://}
address=${address%%/*}
host=${address%%:*}
port=${address##*:}

later() { echo "${1:-0}"; exit 69; }

# In a subshell first: a redirection of exec that fails ends the whole shell.
(exec 3<>"/dev/tcp/$host/$port") 2>/dev/null || later
exec 3<>"/dev/tcp/$host/$port" || later
body='{"model":"lab-model","max_tokens":64,"messages":[{"role":"user","content":"'$unit'"}]}'
printf '%s\r\n' "POST /v1/messages HTTP/1.1" "host: $address" "x-api-key: ${ANTHROPIC_API_KEY-}" \
  "content-type: application/json" "content-length: ${#body}" "connection: close" \
  "idempotency-key: $unit" "" >&3 2>/dev/null || later
printf '%s' "$body" >&3 2>/dev/null || later

# A provider that says nothing for this long is down.
limit=2
IFS=' ' read -r -t $limit _ status _ <&3 || later
wait_seconds=0
while IFS= read -r -t $limit line <&3 && [ "${line%$'\r'}" != "" ]; do
  case $line in
    [Rr]etry-[Aa]fter:*) wait_seconds=${line#*: }; wait_seconds=${wait_seconds%$'\r'} ;;
  esac
done
answer=
while IFS= read -r -t $limit line <&3 || [ -n "$line" ]; do answer=$answer$line; done
case $status in
  200) ;;
  429 | 5??) later "$wait_seconds" ;;
  *) echo "status $status" >&2; exit 1 ;;
esac
# An answer that is cut off is no answer.
[[ $answer == *'}' && $answer =~ \"text\":[[:space:]]*\"([^\"]*)\" ]] || later
printf '%s\n' "${BASH_REMATCH[1]}"
