# Ends a writer of the old run, wherever it went, and is done only when the file stands still.
for pid in $(ps -A -o pid=,args= | awk '/out\/live/ && !/awk/ {print $1}'); do kill -9 "$pid" 2>/dev/null; done
before=$(wc -l <out/live); sleep 0.5
[ "$(wc -l <out/live)" = "$before" ]
