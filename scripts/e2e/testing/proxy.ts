import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requireProgram } from "#shared/runtime/testing/packages.ts";
import { eventually, root } from "../../testing/processes.ts";

/** The proxies whose example configurations the tests run. */
export const PROXIES = ["nginx", "haproxy"] as const;

interface ProxyOptions {
  readonly folder: string;
  readonly port: number;
  /** The ports of the three managers. */
  readonly managers: readonly number[];
}

/** Runs a proxy with the example file of the documentation. Only addresses and ports are replaced. */
export async function startProxy(
  kind: (typeof PROXIES)[number],
  { folder, port, managers }: ProxyOptions,
): Promise<{ stop(): void }> {
  const program = requireProgram([`/usr/sbin/${kind}`], kind);
  const example = readFileSync(join(root, "docs/deployment", kind === "nginx" ? "nginx.conf" : "haproxy.cfg"), "utf8");
  const addressed = example
    .replace(/10\.0\.0\.1([123]):8000/g, (_, number) => `127.0.0.1:${managers[Number(number) - 1]}`)
    .replace("hdr Host league.example", "hdr Host 127.0.0.1");
  const file = join(folder, `${kind}.conf`);
  const temporary = join(folder, "temporary");
  mkdirSync(temporary, { recursive: true });
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${temporary};`);
  const text =
    kind === "nginx"
      ? addressed.replace("listen 80;", `listen 127.0.0.1:${port};`).replace("http {", `http { ${paths.join(" ")}`)
      : addressed.replace("bind :80", `bind 127.0.0.1:${port}`);
  writeFileSync(file, text);
  const user = process.getuid?.() === 0 ? "user root; " : "";
  const args =
    kind === "nginx"
      ? [
          "-c",
          file,
          "-p",
          folder,
          "-e",
          "stderr",
          "-g",
          `${user}daemon off; master_process off; pid ${join(folder, "nginx.pid")};`,
        ]
      : ["-db", "-f", file];
  const proxy: ChildProcess = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  proxy.stderr?.setEncoding("utf8").on("data", (more: string) => {
    output += more;
  });
  await eventually(`${kind} to answer`, async () => {
    if (proxy.exitCode !== null) throw new Error(`${kind} has ended:\n${output}`);
    const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null);
    return answer?.status === 200;
  });
  return { stop: () => void proxy.kill(kind === "nginx" ? "SIGTERM" : "SIGUSR1") };
}
