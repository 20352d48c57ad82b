import { expect, it } from "vitest";
import type { Agent } from "../agents/registered-agent.ts";
import { pagesOfReferees, serversFor } from "./game-links.ts";

const referee = (id: string, more: Partial<Agent> = {}) =>
  ({
    id,
    kind: "referee",
    hasPages: true,
    isRemoved: false,
    endpoint: `http://127.0.0.1:80${id}/mcp`,
    ...more,
  }) as Agent;

it("the manager links to referees that have pages and answer, in the order of their ids", () => {
  const agents = [
    referee("03"),
    referee("02", { hasPages: false }),
    referee("04", { isRemoved: true }),
    referee("05", { kind: "player" }),
    referee("06"),
    referee("01"),
  ];
  const pages = pagesOfReferees(new Map(agents.map((agent) => [agent.id, agent])), ["06"]);
  expect(pages).toEqual(["http://127.0.0.1:8001", "http://127.0.0.1:8003"]);
});

it("a page that another machine has opened does not link to a referee at loopback", () => {
  const gamesAt = () => ["http://127.0.0.1:8001"];
  expect(serversFor({ gamesAt }, { hostname: "192.168.0.7" })).toEqual({ leagues: "", games: null });
  expect(serversFor({ gamesAt }, { hostname: "localhost" })).toEqual({ leagues: "", games: "http://127.0.0.1:8001" });
});
