/** The adapter: what it is, and which function answers which call. Run it with `node adapter.mjs`; the kit does the talking. */

import { address, MARKERS } from "./addressing.mjs";
import { assemble } from "./assembly.mjs";
import { compact } from "./compaction.mjs";
import { gate } from "./gating.mjs";
import { limits } from "./limits.mjs";
import { redact } from "./redaction.mjs";
import { row } from "./rows.mjs";
import { Scheduler } from "./scheduling.mjs";
import { replay } from "./separation.mjs";
import { serve } from "./serve.mjs";
import { HEADERS } from "./structure.mjs";
import { turn, wrap } from "./turn.mjs";

const DESCRIPTION = {
  name: "observed-context-javascript",
  version: "0.1.0",
  spec: "1.0",
  profile: "block",
  markers: MARKERS,
  headers: HEADERS,
  options: { watermark: "explicit", image_tool: null },
};

const METHODS = {
  describe: () => DESCRIPTION,
  gate: ({ event, settings }) => gate(event, settings),
  row: ({ event }) => row(event),
  address: ({ event, settings }) => address(event, settings),
  replay: ({ transcript, channel_prompt, limits }) => replay(transcript, channel_prompt, limits),
  assemble: ({ rows, limits }) => assemble(rows, limits),
  limits: ({ config }) => limits(config),
  wrap: ({ message, block }) => wrap(message, block),
  turn: (call, kit) => turn(call, kit.model),
  compact: (call, kit) => compact(call, kit),
  redact: ({ text }) => redact(text),
};

const OBJECTS = {
  scheduler: { make: ({ limits }, kit) => new Scheduler(limits, kit), calls: ["appended", "drain"] },
};

await serve(METHODS, OBJECTS);
