import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
rows = c.execute("select count(*) from h").fetchone()[0]
columns = [r[1] for r in c.execute("pragma table_info(t1)")]
sys.exit(0 if rows == 1 and columns == ["a"] else f"{rows} rows of history, columns {columns}")
