import { expect, it } from "vitest";
import { restoreCommands } from "./database.ts";

it("the commands that restore a backup name the owner, the roles and the URL, without the password", () => {
  const restored = { database: "league", owner: "league_owner", roles: ["league"] };
  const url = "postgres://league_owner:top%20secret@10.0.0.5/league?sslmode=verify-full";
  expect(restoreCommands(restored, url, "/backups/of today.dump")).toEqual([
    "runuser -u postgres -- createdb --owner league_owner --encoding UTF8 --template template0 league_restored    # as root on the machine of the database",
    "export DATABASE_URL='postgres://league_owner:PASSWORD@10.0.0.5/league_restored?sslmode=verify-full'",
    `pg_restore --exit-on-error --single-transaction --no-owner --no-privileges --dbname "$DATABASE_URL" '/backups/of today.dump'`,
    "npm run league -- db migrate --role league    # grants the rights of the managers",
    "npm run league -- db check",
  ]);
});

it("the URL of a restored database has the parameters of the former one, and no role is named if the managers have none", () => {
  const commands = restoreCommands({ database: "league", owner: "o", roles: [] }, "postgres:///?host=/run/pg", "/b");
  expect(commands[1]).toBe("export DATABASE_URL='postgres:///league_restored?host=/run/pg'");
  expect(commands[3]).toMatch(/ db migrate$/);
});
