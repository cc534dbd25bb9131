# Carries the edit over to the right tree and restores that one file; the owner's edit stays.
grep -qx 2 w/f && exit 0
cp m/f w/f && git -C m checkout -q -- f
