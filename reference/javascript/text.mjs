/** Text as the specification counts and cuts it: in code points, where JavaScript's strings count UTF-16 code units. */

/** All that any reader may take for a line break (ROW-3, TURN-9); CR LF is one. */
export const LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** Stands where something was cut out (CAP-6, CMP-7). It stays within a line, so that no cut makes a line of its own. */
const MARK = " [… cut …] ";

/** How far a cut may move to find a grapheme's edge, in code units (CAP-11). */
const NEAR = 64;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/**
 * @param {string} text
 * @returns {number} its length in code points
 */
export function length(text) {
  let pairs = 0;
  for (let at = 1; at < text.length; at++) {
    if (isLow(text, at) && isHigh(text, at - 1)) {
      pairs += 1;
    }
  }
  return text.length - pairs;
}

/**
 * The text of a row or message: the text itself, or the text parts of a list, in order (SEP-10).
 *
 * @param {string | object[] | null | undefined} content
 * @returns {string} empty when there is none
 */
export function textOf(content) {
  if (Array.isArray(content)) {
    return content
      .filter((part) => part?.type === "text" && typeof part.text === "string")
      .map((part) => part.text)
      .join("\n");
  }
  return typeof content === "string" ? content : "";
}

/**
 * A text of at most `room` code points: head and tail around a mark (CAP-6), parted between graphemes (CAP-11) and never
 * within a surrogate pair (CAP-10).
 *
 * @param {string} text
 * @param {number} room
 * @returns {string} the text itself when it fits
 */
export function cut(text, room) {
  if (length(text) <= room) {
    return text;
  }
  if (room <= 0) {
    return "";
  }
  const mark = room >= 3 * MARK.length ? MARK : "…";
  const kept = Math.max(0, room - length(mark));
  const tail = Math.floor(kept / 2);
  return head(text, kept - tail) + mark + last(text, tail);
}

function head(text, count) {
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken++) {
    end += isHigh(text, end) && isLow(text, end + 1) ? 2 : 1;
  }
  const edge = graphemes.segment(text).containing(end)?.index ?? end;
  return text.slice(0, end - edge <= NEAR ? edge : end);
}

function last(text, count) {
  let start = text.length;
  for (let taken = 0; taken < count && start > 0; taken++) {
    start -= isLow(text, start - 1) && isHigh(text, start - 2) ? 2 : 1;
  }
  const cluster = graphemes.segment(text).containing(start);
  const edge = !cluster || cluster.index === start ? start : cluster.index + cluster.segment.length;
  return text.slice(edge - start <= NEAR ? edge : start);
}

function isHigh(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
