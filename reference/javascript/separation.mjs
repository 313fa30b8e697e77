/** Separation of a transcript into history and block: spec/separation.md. */

import { MARKERS } from "./addressing.mjs";
import { assemble } from "./assembly.mjs";

/** For the gateway's own use; no model sees them. */
const BOOKKEEPING = new Set(["system", "session_meta"]);

/** Keeps the end of one text from running into the beginning of the next (SEP-5). */
const BOUNDARY = "\n\n";

/**
 * What the model sees of a stored transcript.
 *
 * @param {object[]} transcript rows, ascending
 * @param {string | null} channelPrompt
 * @param {import("./limits.mjs").Limits} limits
 * @returns {{history: object[], block: string | null}}
 */
export function replay(transcript, channelPrompt, limits) {
  const { messages, parted, block } = separate(transcript, channelPrompt, limits);
  const history = [];
  for (const [at, next] of messages.entries()) {
    // Neighbours from before stay neighbours; only what stood apart until now is joined (SEP-4, SEP-5).
    if (parted.has(at) && canJoin(history.at(-1), next)) {
      history.push(join(history.pop(), next));
    } else {
      history.push(next);
    }
  }
  return { history, block };
}

/**
 * The two sides of a transcript, before neighbours are seen to.
 *
 * @param {object[]} transcript
 * @param {string | null} channelPrompt
 * @param {import("./limits.mjs").Limits} limits
 * @returns {{messages: object[], parted: Set<number>, block: string | null}} parted: which messages stood behind a row that is
 *   withheld
 */
export function separate(transcript, channelPrompt, limits) {
  const rows = transcript.filter((row) => !BOOKKEEPING.has(row.role));
  if (!isMarked(channelPrompt)) {
    return { messages: rows.map(message), parted: new Set(), block: null }; // SEP-3
  }
  const messages = [];
  const parted = new Set();
  for (const row of rows) {
    if (isObserved(row)) {
      parted.add(messages.length);
    } else {
      messages.push(message(row));
    }
  }
  return { messages, parted, block: assemble(rows.filter(isObserved), limits) };
}

/** @param {string | null} channelPrompt */
const isMarked = (channelPrompt) => Object.values(MARKERS).some((marker) => channelPrompt?.includes(marker));

/**
 * The flag decides, and the role; never the text (SEP-6).
 *
 * @param {object} row
 */
export const isObserved = (row) => row.role === "user" && row.observed === true;

/** The row as a message of its own, with no key that a provider does not know (SEP-4, SEP-8, SEP-9). */
function message({ role, content, tool_calls, tool_call_id, name }) {
  const keys = { role, content: content ?? null, tool_calls, tool_call_id, name };
  return structuredClone(Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined)));
}

/**
 * May these two be one message? Results of tools may not: each answers a call of its own.
 *
 * @param {object | undefined} one
 * @param {object} other
 */
export const canJoin = (one, other) =>
  one !== undefined && one.role === other.role && (one.role === "user" || one.role === "assistant");

/**
 * Both texts whole and in order, with a boundary between; all calls of both.
 *
 * @param {object} one
 * @param {object} other of the same role
 */
export function join(one, other) {
  const calls = [...(one.tool_calls ?? []), ...(other.tool_calls ?? [])];
  return {
    ...one,
    content: joinContent(one.content, other.content),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function joinContent(one, other) {
  if (!one?.length || !other?.length) {
    return one?.length ? one : other;
  }
  if (typeof one === "string" && typeof other === "string") {
    return one + BOUNDARY + other;
  }
  return [...parts(one), { type: "text", text: BOUNDARY }, ...parts(other)];
}

const parts = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);
