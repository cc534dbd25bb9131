/**
 * Names and numbers that the worker and its readers share.
 *
 * @module
 */

/** Last line of every whole output of the worker. */
export const END_MARK = "-- end of unit --";

/** Where the worker keeps what it has done. */
export const CHECKPOINT_NAME = "state.jsonl";

/** Where the receiver of the worker's messages notes each one. */
export const EFFECTS_NAME = "sent.log";

/** Exit code of a worker that finds its checkpoint damaged (EX_DATAERR). */
export const WORKER_DAMAGED_EXIT = 65;

/** Exit code of a worker whose message was not sent (EX_UNAVAILABLE). */
export const WORKER_NOT_SENT_EXIT = 69;

/** Exit code of a worker that found another run at its work (EX_TEMPFAIL). */
export const WORKER_STOOD_DOWN_EXIT = 75;
