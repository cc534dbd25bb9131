/**
 * The plain rehearsal: the job is killed after k outputs, then its resume command runs.
 *
 * @module
 */
import { isKillProven } from "../../lab/mod.ts";
import type { Replay } from "./replay.ts";

/** Kill after k outputs, then resume. */
export const rehearsal: Replay = {
  id: "rehearsal",
  summary: "the job is killed half-way, then its resume command runs",
  variants: ["kill"],
  needs: () => null,
  async run(stage) {
    const { record } = stage;
    const start = await stage.startUntil(stage.killPoint);
    const kill = await stage.killStart(start);
    const { artifacts } = await stage.noteFaultState();
    const count = stage.contract.artifacts.count ?? Infinity;
    const whole = record.finishedAtFault.length;
    if (start.frozen.length > 0 && isKillProven(kill) === true && whole < count) {
      stage.deliver([
        { what: "processes frozen, then ended", value: start.frozen.length },
        { what: "outputs there at that moment", value: artifacts.length },
        { what: "of them finished", value: whole },
      ]);
    }
    if (record.fault.delivered) await stage.resume();
  },
};
