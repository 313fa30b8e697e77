/** Rows of observed messages: spec/rows.md. What becomes of attachments is in media.mjs. */

import { reference } from "./media.mjs";
import { length } from "./text.mjs";

/** The length of the longest attribution line (ROW-6). */
const LONGEST = 128;

/** What would let a name or id be read in two ways, or begin a line of its own (ROW-3). */
const FORBIDDEN = /[[\]|\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * What is stored of an observed message (ROW-1, ROW-4).
 *
 * @param {object} event schema/event.json
 * @returns {object} schema/row.json, without seq
 */
export function row(event) {
  return {
    role: "user",
    observed: true,
    content: attributed(event),
    message_id: event.id,
    time: event.time,
    session: sharedSession(event),
  };
}

/**
 * Who said it, what was said, and what came with it (ROW-2).
 *
 * @param {object} event
 */
export const attributed = (event) => `${attribution(event.sender)}\n${said(event)}`;

/**
 * The message text, and a line for each attachment.
 *
 * @param {object} event
 */
export function said(event) {
  const text = messageText(event);
  return [...(text === "" ? [] : [text]), ...event.media.map((medium) => reference(medium))].join("\n");
}

/**
 * The text, or the caption where there is one (GATE-16).
 *
 * @param {object} event
 */
export const messageText = (event) => event.caption ?? event.text;

/**
 * The key of the conversation that a chat and topic share, whoever speaks (ATT-3). As a list in JSON no part can run into
 * the next, and no topic differs from every topic.
 *
 * @param {object} event
 */
export const sharedSession = ({ platform, account, chat, topic }) =>
  JSON.stringify(["shared", platform, account, chat.id, topic]);

/**
 * `[name|id]` (ROW-2, ROW-3, ROW-6).
 *
 * @param {{id: string | null, name: string | null}} sender
 */
export function attribution({ id, name }) {
  const who = harmless(id ?? "") || "unknown";
  const called = harmless(name ?? "") || who;
  return `[${shortened(called, LONGEST - length(who) - 3)}|${who}]`;
}

const harmless = (text) => text.toWellFormed().replace(FORBIDDEN, " ").trim();

/** The beginning of a name, in code points, of which one is always left. */
const shortened = (name, room) => (length(name) <= room ? name : [...name].slice(0, Math.max(1, room)).join(""));
