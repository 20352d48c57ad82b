import { deflateRawSync } from "node:zlib";
import type { PackedReplay, Replay } from "#shared/web/replay-view.ts";

/** Compresses a replay for a page. */
export const packed = (anchor: string, label: string, replay: Replay): PackedReplay => ({
  ...{ anchor, label },
  data: deflateRawSync(JSON.stringify(replay)).toString("base64"),
});
