import { expect, it } from "vitest";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { serve } from "./serve.ts";

it("serve --url without a database is a usage error", async () => {
  await expect(serve("config/league.json", { url: "http://10.0.0.11:8000" })).rejects.toMatchObject({
    exitCode: EXIT.usage,
    message: "--url is for several managers on one database, and no database is named: set DATABASE_URL or --database",
  });
});

it.each([
  ["mysql://db.example/league", /^not the URL of a PostgreSQL database/],
  ["postgres://db.example/league?foo=1", /unknown parameter "foo"/],
  ["postgres://db.example/league?sslrootcert=/nowhere.crt", /^the file \/nowhere\.crt cannot be read/],
])("serve with the database %s is a usage error before an agent starts", async (database, message) => {
  await expect(serve("config/league.json", { database })).rejects.toMatchObject({
    exitCode: EXIT.usage,
    message: expect.stringMatching(message),
  });
});
