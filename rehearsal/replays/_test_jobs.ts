// Small jobs of four units for the tests of the replays. Not a part of the program.

/** Looks before it works, and renames a whole output into place. Same command starts and resumes. */
export const CAREFUL = `
mkdir -p out
for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  { echo "unit $i"; sleep 0.08; echo end; } >out/.$i.tmp
  mv out/.$i.tmp out/$i.txt
done
`;

/** Writes outputs in place, and takes what is there for whole. */
export const IN_PLACE = `
mkdir -p out
for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  echo "unit $i" >out/$i.txt; sleep 0.08; echo end >>out/$i.txt
done
`;

/** A contract for such a job, with parts of it replaced. */
export function contractOf(parts: Record<string, unknown>): Record<string, unknown> {
  return {
    start: ["sh", "run.sh"],
    resume: ["sh", "run.sh"],
    artifacts: { paths: ["out/*.txt"], count: 4, endsWith: "end" },
    limits: { runSeconds: 30, idleSeconds: 5, graceSeconds: 1 },
    ...parts,
  };
}
