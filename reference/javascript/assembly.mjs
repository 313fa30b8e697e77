/** The block: which rows are in it and in which order (spec/assembly.md), and how it is cut to size (spec/cap.md). */

import { cut, length, textOf } from "./text.mjs";
import { disarm, omissionNote, summaryLabel } from "./structure.mjs";

/** Below this length a summary's label is cut with its body: there is no room to keep it whole. */
const ROOM_FOR_LABEL = 96;

/** With less than this, the newest row takes the place of note and summary (only below 256 characters). */
const ROOM_FOR_ROW = 40;

/**
 * The rows that a block is made of.
 *
 * @param {object[]} rows observed rows and summary rows of one session, ascending
 * @returns {{summary: object | null, verbatim: object[]}} the newest summary with text, and the rows with text that it does
 *   not cover (ASM-2, ASM-3, ASM-4)
 */
export function divide(rows) {
  const spoken = rows.filter((row) => textOf(row.content).trim() !== "");
  // A summary without text stands for nothing: what it claims to cover is shown (SEP-7).
  const summary = spoken.filter(isSummary).at(-1) ?? null;
  const messages = spoken.filter((row) => !isSummary(row));
  if (!summary) {
    return { summary, verbatim: messages };
  }
  const through = summary.summary.covers_through;
  if (through === undefined || through === null) {
    const before = new Set(rows.slice(0, rows.indexOf(summary)));
    return { summary, verbatim: messages.filter((row) => !before.has(row)) };
  }
  // A row that the store has not numbered yet was never summarised.
  return { summary, verbatim: messages.filter((row) => !(row.seq <= through)) };
}

/** @param {object} row */
export const isSummary = (row) => typeof row.summary === "object" && row.summary !== null;

/**
 * The block of these rows (ASM-1 to ASM-9, CAP-1 to CAP-12).
 *
 * @param {object[]} rows observed rows and summary rows of one session, ascending
 * @param {import("./limits.mjs").Limits} limits
 * @returns {string | null} null when there is nothing to show
 */
export function assemble(rows, limits) {
  const { summary, verbatim } = divide(rows);
  if (!summary && verbatim.length === 0) {
    return null;
  }
  const texts = verbatim.map((row) => disarm(shown(row)));
  const digest = summary && {
    label: summaryLabel(summary.summary.covered),
    body: disarm(shown(summary), { attributed: false }),
  };
  return fit(digest, texts, limits);
}

/** Half a surrogate pair cannot be encoded; one may have come with the row (CAP-10). */
const shown = (row) => textOf(row.content).toWellFormed();

function fit(digest, texts, { max_chars, max_rows }) {
  const bound = max_chars || Infinity;
  const most = Math.min(texts.length, max_rows || Infinity);
  const whole = digest ? digest.label.length + 1 + length(digest.body) : 0;
  // Half of the bound is the summary's (CAP-7); what is over that gives way before any row does.
  const secured = Math.min(whole, Math.floor(bound / 2));

  const count = fitting(texts, most, bound - secured, digest !== null);
  const kept = texts.slice(texts.length - Math.max(count, Math.min(1, texts.length)));
  const omitted = texts.length - kept.length;
  const note = omitted > 0 ? omissionNote(omitted) : null;

  if (count > 0 || texts.length === 0) {
    const taken = lengthOfLines([note, ...kept]) + (kept.length > 0 ? 1 : 0);
    const room = count === most ? bound - taken : secured;
    return joined([summarised(digest, whole, room), note, ...kept]);
  }
  return squeezed(summarised(digest, whole, secured), note, kept[0], bound);
}

/**
 * How many of the newest rows fit (CAP-3). The largest number counts, even if a smaller one does not fit: with the last row
 * the note goes (CAP-8).
 */
function fitting(texts, most, room, led) {
  let best = 0;
  let taken = led ? 0 : -1;
  for (let count = 1; count <= most && taken <= room; count++) {
    taken += length(texts[texts.length - count]) + 1;
    const omitted = texts.length - count;
    const note = omitted > 0 ? omissionNote(omitted).length + 1 : 0;
    if (taken + note <= room) {
      best = count;
    }
  }
  return best;
}

/** The newest row alone does not fit: it is cut, never dropped (CAP-6). In very few characters it is all there is room for. */
function squeezed(digest, note, text, bound) {
  for (const before of [[digest, note], [digest], []]) {
    const room = bound - lengthOfLines([...before, ""]);
    if (room >= Math.min(ROOM_FOR_ROW, length(text)) || before.length === 0) {
      return joined([...before, cut(text, room)]);
    }
  }
}

function summarised(digest, whole, room) {
  if (!digest) {
    return null;
  }
  if (room >= whole || room < ROOM_FOR_LABEL) {
    return cut(`${digest.label}\n${digest.body}`, room);
  }
  return `${digest.label}\n${cut(digest.body, room - digest.label.length - 1)}`;
}

function lengthOfLines(lines) {
  const there = lines.filter((line) => line !== null);
  return there.reduce((sum, line) => sum + length(line), 0) + Math.max(0, there.length - 1);
}

const joined = (lines) => lines.filter((line) => line !== null && line !== "").join("\n");
