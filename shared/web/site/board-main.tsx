import { render } from "preact";
import type { BoardSetup } from "../game-view.ts";
import { Table } from "../play/game-page.tsx";
import { AppTransport } from "../transports/app-transport.ts";
import { embedTransport } from "../transports/embed-transport.ts";
import { pageTransport } from "../transports/page-transport.ts";
import type { Transport } from "../transports/transport.ts";

const setup = JSON.parse(document.getElementById("setup")?.textContent ?? "") as BoardSetup;
const root = document.getElementById("root");
if (root) render(<Table transport={transportFor(setup)} first={setup.game} games={setup.games} />, root);

/**
 * Returns the transport of a mode. The seat of a page is after the "#" of its address, which browsers do not send to
 * the server.
 */
function transportFor({ mode, game, seat, games }: BoardSetup): Transport {
  if (mode === "app") return new AppTransport(games);
  if (mode === "embed") return embedTransport(seat);
  const gameId = game?.game_id ?? decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
  const token = seat?.token ?? new URLSearchParams(location.hash.slice(1)).get("seat") ?? "";
  return pageTransport(gameId, token);
}
