/**
 * The laboratory: disposable folders, processes that are provably ours and provably gone, faults'
 * evidence, containment, and the grader. It knows no drill and no job by name.
 *
 * This file is the only door of the folder.
 *
 * @module
 */
export * from "./allowlist.ts";
export * from "./artifacts.ts";
export * from "./checkpoint_reader.ts";
export { didYouMean, suggest } from "./cli/suggest.ts";
export * from "./clock.ts";
export * from "./containment.ts";
export * from "./driver.ts";
export * from "./effects_reader.ts";
export { type FileCrew, type FileHelper, openFileCrew, startFileHelper } from "./file_crew.ts";
export * from "./git_state.ts";
export { grade, gradeSet, takenForAlive } from "./grader.ts";
export { isRewritten } from "./grader_artifacts.ts";
export { WHOLE_SHARE } from "./grader_contents.ts";
export { endingOf } from "./grader_attempts.ts";
export * from "./hash.ts";
export * from "./journal.ts";
export * from "./json_pointer.ts";
export * from "./keeper.ts";
export * from "./links.ts";
export * from "./monitor.ts";
export * from "./ownership.ts";
export * from "./process.ts";
export * from "./process_table.ts";
export * from "./reap.ts";
export * from "./record.ts";
export * from "./remove.ts";
export * from "./run_record.ts";
export * from "./signals.ts";
export * from "./system_tools.ts";
export * from "./verdict.ts";
export * from "./version.ts";
export * from "./worker.ts";
export { isMarkRepeated, wholeProblems, type WholeRules } from "./whole.ts";
export * from "./workspace.ts";
