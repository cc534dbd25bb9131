# Compares the table with the intended one, then records it; a half-made one is made again.
import sqlite3
c = sqlite3.connect("d.db")
c.execute("create table if not exists h(v)")
if not c.execute("select 1 from h").fetchone():
    if [r[1] for r in c.execute("pragma table_info(t1)")] != ["a"]:
        c.execute("drop table if exists t1")
        c.execute("create table t1(a)")
    c.execute("insert into h values(1)")
    c.commit()
