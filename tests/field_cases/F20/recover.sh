# Delivers to the final place and looks there.
[ -s hello.txt ] || { echo hi >hello.new && mv hello.new hello.txt; }
test -s hello.txt && echo done >status
