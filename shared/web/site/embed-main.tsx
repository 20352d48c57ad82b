import { render } from "preact";
import type { BoardSetup } from "#shared/web/game-view.ts";
import { Table } from "#shared/web/play/game-page.tsx";
import { AppTransport, embedTransport } from "#shared/web/transports/embed-transport.ts";

const { mode, game, seat, games } = JSON.parse(document.getElementById("setup")?.textContent ?? "") as BoardSetup;
const root = document.getElementById("root");
const transport = mode === "app" ? new AppTransport(games) : embedTransport(seat);
if (root) render(<Table transport={transport} first={game} games={games} />, root);
