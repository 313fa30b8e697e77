/** The turn: spec/turn.md. */

import { join, separate } from "./separation.mjs";
import { disarmHeaders, HEADERS } from "./structure.mjs";

/** How often one request is sent before the provider counts as down. */
const ATTEMPTS = 2;

/** How often the model may ask for tools before the turn ends. */
const MOST_ROUNDS = 8;

/** Stands for the answer that a request never got, so that the payload alternates (TURN-11). */
const UNANSWERED = { role: "assistant", content: "[no answer]" };

/**
 * The addressed message as the model sees it (TURN-1, TURN-2, TURN-3).
 *
 * @param {string | object[]} message text or content parts
 * @param {string | null} block
 * @returns {string | object[]} a new list where the message is one
 */
export function wrap(message, block) {
  if (!block) {
    return structuredClone(message);
  }
  // A block may come from elsewhere. Only the lines written here may equal a header (TURN-9).
  const prefix = `${HEADERS.block}\n${disarmHeaders(block)}\n\n${HEADERS.addressed}\n`;
  if (typeof message === "string") {
    return prefix + message;
  }
  const parts = structuredClone(message);
  const first = parts.find((part) => part.type === "text");
  if (first) {
    first.text = prefix + first.text;
  } else {
    parts.unshift({ type: "text", text: prefix });
  }
  return parts;
}

/**
 * Runs a whole turn.
 *
 * @param {{transcript: object[], message: string | object[], channel_prompt: string | null,
 *   limits: import("./limits.mjs").Limits}} call
 * @param {(payload: object[]) => Promise<object>} model
 * @returns {Promise<object[]>} the rows to persist: the bare message, then what came of it (TURN-4)
 */
export async function turn({ transcript, message, channel_prompt, limits }, model) {
  const { messages, block } = separate(withoutCopies(transcript, message), channel_prompt, limits);
  const rows = [{ role: "user", content: structuredClone(message) }];
  const payload = [
    ...(channel_prompt ? [{ role: "system", content: channel_prompt }] : []),
    ...alternating(messages),
    { role: "user", content: wrap(message, block) },
  ];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const answer = await asked(model, payload);
    if (!answer) {
      break;
    }
    const calls = answer.tool_calls ?? [];
    const answers = [{ role: "assistant", content: answer.content ?? null, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
    answers.push(...calls.map((call) => toolMessage(call, `There is no tool ${call.function.name} here.`)));
    rows.push(...answers);
    payload.push(...answers);
    if (calls.length === 0) {
      break;
    }
  }
  return rows;
}

/** A retry sends the same bytes (TURN-5). When the provider stays down, the message is kept without an answer. */
async function asked(model, payload) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      return await model(payload);
    } catch (error) {
      console.warn(`request to the model failed: ${error.name}`);
    }
  }
  return null;
}

/**
 * The transcript without copies of the message that is about to be sent (TURN-10): a request that stands there unanswered, or
 * the row of a platform that delivered it as a passive message first. Only what came after the last answer can be one.
 */
function withoutCopies(transcript, message) {
  const text = JSON.stringify(message);
  const answered = transcript.findLastIndex((row) => row.role === "assistant" || row.role === "tool");
  return transcript.filter(
    (row, at) => at <= answered || row.role !== "user" || row.summary || JSON.stringify(row.content) !== text,
  );
}

/**
 * The history as providers take it: user and assistant by turns, results of tools directly after their calls, and an answer
 * at the end, on which the current message follows (TURN-11). Requests are not joined: each stands in every later turn as it
 * was stored (TURN-8).
 */
function alternating(messages) {
  const history = [];
  for (const next of withResultsInPlace(messages.filter(saysAnything))) {
    const before = history.at(-1)?.role;
    if (before === "assistant" && next.role === "assistant") {
      history.push(join(history.pop(), next));
    } else if (before === "user" && next.role === "user") {
      history.push({ ...UNANSWERED }, next);
    } else {
      history.push(next);
    }
  }
  return history.at(-1)?.role === "user" ? [...history, { ...UNANSWERED }] : history;
}

const saysAnything = ({ role, content, tool_calls }) => role === "tool" || content?.length > 0 || tool_calls !== undefined;

/** A message may have come between a call and its result, or the result never came. Providers refuse both. */
function withResultsInPlace(messages) {
  const groups = [];
  for (const message of messages) {
    const asked = (group) => group[0].tool_calls?.some(({ id }) => id === message.tool_call_id);
    const group = message.role === "tool" ? groups.findLast(asked) : undefined;
    if (group) {
      group.push(message);
    } else {
      groups.push([message]);
    }
  }
  return groups.flatMap(([message, ...results]) => {
    const missing = (message.tool_calls ?? []).filter(({ id }) => results.every((result) => result.tool_call_id !== id));
    return [message, ...results, ...missing.map((call) => toolMessage(call, "[no result]"))];
  });
}

const toolMessage = ({ id, function: { name } }, content) => ({ role: "tool", tool_call_id: id, name, content });
