import { expect, it } from "vitest";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { serve } from "./serve.ts";

it("serve --url without a database is a usage error", async () => {
  await expect(serve("config/league.json", { url: "http://10.0.0.11:8000" })).rejects.toMatchObject({
    exitCode: EXIT.usage,
    message: "--url is for several managers on one database, and no database is named: set DATABASE_URL or --database",
  });
});
