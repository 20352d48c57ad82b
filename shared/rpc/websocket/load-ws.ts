import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/** Loads `ws` at the first WebSocket of a process. `require` takes 8 ms; `import` takes 20 ms, because it also reads the exports of Node's modules. */
export const loadWs = (): typeof import("ws") => require("ws");
