# A pid alone proves nothing: the file is ignored unless that process is our program.
[ -s served ] && exit 0
pid=$(cat app.pid)
case $(ps -o args= -p "$pid" 2>/dev/null) in *run.sh*) echo "already running" >&2; exit 75 ;; esac
echo $$ >app.pid; echo ok >served.new && mv served.new served; rm app.pid
