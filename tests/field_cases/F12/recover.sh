# One writer, a temp file and a rename; whole JSON is left alone.
python3 -m json.tool s.json >/dev/null 2>&1 && exit 0
python3 - <<'P'
import json, os
with open("s.json.new", "w") as f:
    json.dump({"n": list(range(2000))}, f); f.flush(); os.fsync(f.fileno())
os.replace("s.json.new", "s.json")
P
