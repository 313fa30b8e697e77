/** The adapter: what it is, and which function answers which call. Run it with `node adapter.mjs`; the kit does the talking. */

import { assemble } from "./assembly.mjs";
import { limits } from "./limits.mjs";
import { serve } from "./serve.mjs";
import { HEADERS } from "./structure.mjs";

/** The phrase in the channel prompt by which each platform asks for separation (SEP-2, ATT-5). */
export const MARKERS = {
  telegram: "observed Telegram group context",
  whatsapp: "observed WhatsApp group context",
};

const DESCRIPTION = {
  name: "observed-context-javascript",
  version: "0.1.0",
  spec: "1.0",
  profile: "block",
  markers: MARKERS,
  headers: HEADERS,
  options: { watermark: "explicit", image_tool: null },
};

await serve({
  describe: () => DESCRIPTION,
  limits: ({ config }) => limits(config),
  assemble: ({ rows, limits }) => assemble(rows, limits),
});
