import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { openTestedRun } from "../postgres/testing/postgres-runs.ts";
import { testRunDatabase } from "./testing/run-database.suite.ts";

testRunDatabase("PostgreSQL", async () => openTestedRun(await sharedPostgres()));
