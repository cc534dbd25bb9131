# A child that ignores TERM: TERM, a bounded wait, KILL, and then a quiet time before "done".
[ -s out ] && [ -e done ] && exit 0
sh -c 'trap "" TERM; while :; do echo x >>out; sleep .1; done' & c=$!
sleep 0.3; kill $c 2>/dev/null; sleep 0.2
kill -0 $c 2>/dev/null && kill -9 $c
wait $c 2>/dev/null
before=$(wc -l <out); sleep 0.4
[ "$(wc -l <out)" = "$before" ] && : >done
