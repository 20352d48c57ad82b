import { render } from "preact";
import { loadBoard } from "../boards/boards.tsx";
import { SiteHeader } from "../layout/site-header.tsx";
import { Table } from "../play/game-page.tsx";
import { Invitation } from "../play/invitation.tsx";
import type { SiteSetup } from "../site-setup.ts";
import { pageTransport } from "../transports/page-transport.ts";

const { games, board } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as SiteSetup;
const root = document.getElementById("root");
const gameId = decodeURIComponent(location.pathname.split("/").at(-1) ?? "");
// The seat is after the "#" of the address, which browsers do not send to the server.
const token = new URLSearchParams(location.hash.slice(1)).get("seat") ?? "";
const transport = pageTransport(gameId, token);
await loadBoard(board);
if (root) {
  render(
    <div class="site">
      <SiteHeader part="games" />
      <Table transport={transport} first={null} games={games} Invitation={Invitation} />
    </div>,
    root,
  );
}
