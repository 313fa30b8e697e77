/** Scheduling: spec/scheduling.md. */

import { pass } from "./compaction.mjs";

/** How long a session rests after a pass that failed, in seconds (SCH-4). */
const COOLDOWN = 300;

/** How many sessions are remembered. One that is forgotten is looked at again when it comes back (SCH-8, SCH-9). */
const MOST_SESSIONS = 1_000;

/**
 * @typedef {object} Session
 * @property {number} chars appended since the last pass that succeeded
 * @property {number} rows the same in rows
 * @property {number} charsDue at how many of them a pass is tried
 * @property {number} rowsDue
 * @property {boolean} seen the backlog was looked at
 * @property {number | null} restsUntil
 * @property {Promise<void> | null} running
 */

/** Decides when a pass is worth its cost. */
export class Scheduler {
  #limits;
  #kit;
  /** @type {Map<string, Session>} the one that was longest without a message first */
  #sessions = new Map();

  /**
   * @param {import("./limits.mjs").Limits} limits
   * @param {import("./serve.mjs").Kit} kit
   */
  constructor(limits, kit) {
    this.#limits = limits;
    this.#kit = kit;
  }

  /**
   * One observed row has been stored. Returns at once and never raises (SCH-2, SCH-6).
   *
   * @param {{session: string, chars: number}} row
   */
  appended({ session: key, chars }) {
    if (this.#limits.max_chars === 0 && this.#limits.max_rows === 0) {
      return;
    }
    const session = this.#sessions.get(key) ?? { chars: 0, rows: 0, ...this.#triggers(), seen: false, restsUntil: null, running: null };
    this.#sessions.delete(key);
    this.#sessions.set(key, session);
    session.chars += chars;
    session.rows += 1;
    this.#forget();
    if (!session.running && isDue(session)) {
      session.running = this.#run(key, session).finally(() => {
        session.running = null;
      });
    }
  }

  /** Waits until no pass is running. */
  async drain() {
    for (let running = this.#running(); running.length > 0; running = this.#running()) {
      await Promise.all(running);
    }
  }

  #running() {
    return [...this.#sessions.values()].map((session) => session.running).filter((running) => running !== null);
  }

  /** Half of a limit; a limit that is off triggers nothing (SCH-1, SCH-7). */
  #triggers() {
    const { max_chars, max_rows } = this.#limits;
    return { charsDue: max_chars / 2 || Infinity, rowsDue: max_rows / 2 || Infinity };
  }

  /** Passes over one session, one after the other, as long as there is more than one of them takes (SCH-3, SCH-5). */
  async #run(key, session) {
    try {
      if (session.restsUntil !== null && (await this.#kit.now()) < session.restsUntil) {
        return;
      }
      session.restsUntil = null;
      for (let more = true; more; ) {
        // What arrives from here on may be after the transcript was read; it counts for the next pass.
        const { chars, rows } = session;
        const result = await pass(key, this.#limits, this.#kit);
        more = result.more;
        if (result.outcome === "failed") {
          session.restsUntil = (await this.#kit.now()) + COOLDOWN;
          return;
        }
        session.seen = true;
        if (result.outcome === "stored") {
          Object.assign(session, { chars: session.chars - chars, rows: session.rows - rows }, this.#triggers());
        } else {
          // Nothing to do is not done: what is pending stays, with what an earlier process has left (SCH-8), and the next look
          // waits until there may be something.
          const found = { chars: Math.max(chars, result.pending.chars), rows: Math.max(rows, result.pending.rows) };
          session.chars += found.chars - chars;
          session.rows += found.rows - rows;
          const triggers = this.#triggers();
          session.charsDue = Math.max(triggers.charsDue, found.chars + result.chars);
          session.rowsDue = Math.max(triggers.rowsDue, found.rows + result.rows);
        }
      }
    } catch (error) {
      console.warn(`scheduling of a pass failed: ${error?.name ?? "unknown error"}`);
    }
  }

  /** What is running or resting is kept as long as anything else can go. */
  #forget() {
    if (this.#sessions.size <= MOST_SESSIONS) {
      return;
    }
    const idle = [...this.#sessions].find(([, { running, restsUntil }]) => !running && restsUntil === null);
    const quiet = idle ?? [...this.#sessions].find(([, { running }]) => !running);
    if (quiet) {
      this.#sessions.delete(quiet[0]);
    }
  }
}

/** A session that was never seen before may have a backlog from before a restart (SCH-8). */
const isDue = ({ chars, rows, charsDue, rowsDue, seen }) => !seen || chars >= charsDue || rows >= rowsDue;
