# Waits longer from try to try, keeps the counter on disk, and stops when it has its answer.
[ -s answer ] && exit 0
n=$(cat tries 2>/dev/null || echo 0)
while [ "$n" -lt 4 ]; do
  n=$((n + 1)); echo "$n" >tries
  sleep "0.$((n * n))"
  [ "$n" -ge 3 ] && { echo "an answer" >answer.new; mv answer.new answer; exit 0; }
  echo "$(date +%s%N) 429" >>calls
done
exit 1
