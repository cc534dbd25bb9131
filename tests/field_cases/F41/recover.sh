# Keeps the work, but inside: the link that leads out is replaced by a folder.
[ -h ws/outbox ] || exit 0
rm ws/outbox && mkdir ws/outbox && mv outside/escaped.txt ws/outbox/escaped.txt
