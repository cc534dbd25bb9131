# Restarts the subject and judges by its own progress, not by the watchdog's.
[ -s agent.out ] && exit 0
for i in 1 2 3; do echo "step $i" >>agent.new; touch agent.beat; sleep 0.1; done
mv agent.new agent.out
