import { replaceService } from "#shared/rpc/mcp/service.ts";
import { withFixtures } from "./fixtures.ts";

/** Loaded before an agent by `node --import`: its MCP endpoint then also serves the fixtures of the conformance suite. */
replaceService(withFixtures);
