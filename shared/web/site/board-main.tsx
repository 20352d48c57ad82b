import { render } from "preact";
import { loadBoard } from "#shared/web/boards/boards.tsx";
import { SiteHeader } from "#shared/web/layout/site-header.tsx";
import type { SiteSetup } from "#shared/web/page-files.ts";
import { Table } from "#shared/web/play/game-page.tsx";
import { Invitation } from "#shared/web/play/invitation.tsx";
import { pageTransport } from "#shared/web/transports/page-transport.ts";

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
