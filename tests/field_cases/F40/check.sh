case $1 in
  w/f) grep -qx 2 w/f ;;
  m/f) [ "$(cat m/f)" = 1 ] ;;
  m/g) [ "$(cat m/g)" = "$(printf '1\nowner')" ] ;;
esac
