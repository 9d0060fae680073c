/** A limit on everything. What a user may set is in the configuration; these are the bounds around it. */

/** Calls of one batch. */
export const BATCH_CALLS_MAX = 1_000
/** Waiting calls of one lane. */
export const LANE_CALLS_MAX = 1_000
/** Waiting calls of one port; the default of `scheduler.queueLength`. */
export const QUEUE_LENGTH_DEFAULT = 256
/** Calls that wait or run in the whole process. */
export const CALLS_MAX = 20_000
/** Canonical JSON of one call's arguments, in bytes. */
export const ARGUMENTS_BYTES_MAX = 64 * 1024
/** An HTTP body, in bytes. */
export const BODY_BYTES_MAX = 1024 * 1024
/** Nesting of a JSON body. */
export const JSON_DEPTH_MAX = 32

/** Default deadlines of a call, from its acceptance to its first byte. */
export const DEADLINE_DEFAULT_MS = 30_000
export const DEADLINE_MAX_MS = 600_000

/** Entries that a port's trace keeps, and the bytes that one entry holds; a longer chunk becomes several entries. */
export const TRACE_ENTRIES = 10_000
export const TRACE_ENTRY_BYTES = 256

/** Replies that one port still expects after their callers were told `timeout`. */
export const LATE_REPLIES_MAX = 256
/** One received line of text. */
export const LINE_BYTES_MAX = 1024

/** Deadlines of the port's own operations. */
export const OPEN_DEADLINE_MS = 5_000
export const WRITE_DEADLINE_MS = 5_000
export const CLOSE_DEADLINE_MS = 2_000

/** How often an absent path is looked at, and how often an open port is checked against its path. */
export const ABSENT_LOOK_MS = 200
export const STALE_LOOK_MS = 1_000
/** Back-off between opens that fail, before jitter. */
export const REOPEN_DELAYS_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000] as const
/** A port lost sooner than this after its opening, while its path stayed, backs off too. */
export const SHORT_LIFE_MS = 5_000

/** From SIGTERM to the end: runs on the wire may finish for this long, and everything is over within the second. */
export const SHUTDOWN_RUNS_MS = 3_000
export const SHUTDOWN_TOTAL_MS = 4_500

/** Events that a client may have missed and still gets, and clients that may listen at one time. */
export const EVENTS_KEPT = 5_000
export const SUBSCRIBERS_MAX = 256
/** Finished batches and calls that may still be asked for, and for how long. */
export const FINISHED_KEPT_MAX = 1_000
export const FINISHED_KEPT_MS = 600_000
/** How long a port may be given up for. */
export const RELEASE_MAX_MS = 86_400_000
