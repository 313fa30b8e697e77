/** Gating: spec/gating.md. */

import { compile, matches } from "./patterns.mjs";
import { messageText } from "./rows.mjs";

const UNSEEN_CHATS = new Set(["broadcast", "status", "newsletter"]);

/**
 * Is this message for the bot?
 *
 * @param {object} event schema/event.json
 * @param {object} settings schema/settings.json
 * @returns {{action: "dispatch" | "observe" | "ignore"}}
 */
export const gate = (event, settings) => ({ action: decide(event, settings) });

/** The table of the chapter, from top to bottom. */
function decide(event, settings) {
  if (UNSEEN_CHATS.has(event.chat.kind)) {
    return "ignore"; // GATE-8
  }
  if (event.sender.id === settings.bot.id) {
    return "ignore"; // GATE-7
  }
  if (event.chat.kind === "direct") {
    return "dispatch"; // GATE-3; who may is a matter of authorisation, and not of this gate
  }
  const listed = isListed(event, settings);
  if (!listed && settings.group_policy !== "open") {
    return "ignore"; // GATE-4
  }
  if (needsNoMention(event, settings) || isAddressed(event, settings)) {
    return "dispatch"; // GATE-6, GATE-2
  }
  return listed && settings.observe ? "observe" : "ignore"; // GATE-1, GATE-5
}

/**
 * Does observing have a say in this chat? (spec/addressing.md, "The observed group")
 *
 * @param {object} event
 * @param {object} settings
 */
export const isObservedGroup = (event, settings) =>
  event.chat.kind === "group" && settings.observe && isListed(event, settings) && !needsNoMention(event, settings);

/** No list lists nobody (GATE-4). */
const isListed = (event, { allowed_chats }) => (allowed_chats ?? []).includes(event.chat.id);

const needsNoMention = (event, { require_mention, free_response_chats }) =>
  !require_mention || free_response_chats.includes(event.chat.id);

function isAddressed(event, settings) {
  const { bot, other_bots } = settings;
  if (names(event, bot)) {
    return true; // GATE-2, GATE-10
  }
  if (event.sender.is_bot || other_bots.some((other) => names(event, other))) {
    return false; // GATE-18, GATE-13
  }
  if (event.reply_to && event.reply_to.sender_id === bot.id) {
    return true;
  }
  const text = messageText(event); // of the message alone, not of what it quotes (GATE-15)
  return settings.mention_patterns.map((pattern) => compile(pattern)).some((pattern) => pattern && matches(pattern, text));
}

/**
 * Does the message mention this bot explicitly? What the platform marked decides alone, where it marked anything (GATE-10).
 *
 * @param {object} event
 * @param {{id: string, handle: string}} bot
 */
function names(event, bot) {
  const text = messageText(event);
  if (!event.mentions || event.mentions.length === 0) {
    return holdsHandle(text, bot.handle);
  }
  return event.mentions.some(({ id, offset, length }) =>
    // JavaScript's strings count UTF-16 code units, as spans do (GATE-17).
    id === undefined ? sameAsideCase(text.slice(offset, offset + length), `@${bot.handle}`) : id === bot.id,
  );
}

const sameAsideCase = (one, other) => one.toLowerCase() === other.toLowerCase();

/** GATE-9. The neighbours are looked at apart: with the flags i and u, [a-z] would take in "ſ" and the Kelvin sign. */
function holdsHandle(text, handle) {
  const places = new RegExp(`@${handle.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}`, "giu");
  for (let place = places.exec(text); place; place = places.exec(text)) {
    const end = place.index + place[0].length;
    if (!/[A-Za-z0-9_.-]/.test(text.charAt(place.index - 1)) && !/^[.-]?[A-Za-z0-9_]/.test(text.slice(end, end + 2))) {
      return true;
    }
    places.lastIndex = place.index + 1;
  }
  return false;
}
