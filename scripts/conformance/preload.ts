import { replaceService } from "#shared/rpc/mcp/mcp-endpoint.ts";
import { withFixtures } from "./fixtures.ts";

// `node --import` loads this module before an agent, whose MCP endpoint then also has the fixtures of the conformance suite.
replaceService(withFixtures);
