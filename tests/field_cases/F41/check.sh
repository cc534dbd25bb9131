# The work is inside, for real and not through a link, and nothing is left outside.
[ ! -h ws/outbox ] && [ -s "$1" ] && [ ! -e outside/escaped.txt ]
