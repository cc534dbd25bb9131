case $1 in
  out/d?) [ "$(cat "$1")" = "${1#out/}" ] ;;
  *) [ "$(wc -l <"$1")" -eq 3 ] ;;
esac
