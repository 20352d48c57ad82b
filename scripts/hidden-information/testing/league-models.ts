/**
 * Language models in the seats of a league match. Each receives the messages of a controlled player as its own player would, and its answers are
 * not played. Its prompts are a surface, and its records are in the folder of the league.
 */
import { join } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { type ChatRequest, sendCompletion, startChatEndpoint } from "#shared/rpc/testing/chat-endpoint.ts";
import { LlmSettings } from "#shared/runtime/config/llm.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { llmBot, llmSpec } from "../../../player/llm/llm-bot.ts";
import { matchRecordsIn, recordsFolder } from "../../../player/llm/records.ts";
import { Player } from "../../../player/matches/player.ts";
import { botHome } from "../../../player/testing/home.ts";
import type { Received } from "../../testing/controlled-player.ts";
import { ANOTHER_PLAYER, anotherPlayer, PROMPTS } from "./league-surfaces.ts";
import type { ControlledLeague, Moment } from "./league-world.ts";
import type { Secret } from "./table.ts";

export interface Models {
  /** The answers of the models, which only the records contain. Those of a match that has ended are in the export. */
  secretsOf(hasEnded: boolean): readonly Secret[];
  /** Passes the new messages to the models. Resolves with the new prompts. */
  drain(): Promise<Moment>;
  /** Rejects if a model that was asked has no record of its answer. */
  close(): Promise<void>;
}

type Endpoint = Awaited<ReturnType<typeof startChatEndpoint>>;

/** The content of a request without its number for sampling, which derives from the seed of the seat's bot. */
const promptIn = ({ model, messages, tools, response_format }: ChatRequest): string =>
  JSON.stringify({ model, messages, tools, response_format });

/** A model in the seat of a controlled player. */
async function modelOf(viewer: string, messages: readonly Received[], folder: string, endpoint: Endpoint) {
  const settings = LlmSettings.parse({ base_url: endpoint.url, model: viewer });
  const bot = await llmBot(llmSpec(settings), systemClock, botHome({ recordsFolder: () => folder }));
  const player = new Player(bot, () => {}, systemClock);
  let read = 0;
  let sent = 0;
  const requests = () => endpoint.requests.filter(({ model }) => model === viewer);
  return {
    viewer,
    /** Resolves with the new prompts. */
    async drain(): Promise<string> {
      for (; read < messages.length; read++) {
        const { type, payload, signature } = messages[read] as Received;
        if (type === "GAME_INVITE") await player.invite(GameInvite.parse(payload), signature);
        if (type === "MOVE_REQUEST") await player.move(MoveRequest.parse(payload), signature);
        if (type === "GAME_RESULT") await player.finish(GameResult.parse(payload), signature);
      }
      const prompts = requests().slice(sent).map(promptIn);
      sent += prompts.length;
      return prompts.join("\n");
    },
    isAsked: () => requests().length > 0,
    records: () => JSON.stringify(matchRecordsIn(folder)),
    async close() {
      player.close();
      await bot.close?.();
    },
  };
}

/** Starts a model for each seat of the match and for a player of another match. */
export async function startModels({ seats, others, dataFolder }: ControlledLeague): Promise<Models> {
  const another = anotherPlayer(others);
  const players = [...seats, ...(another ? [[ANOTHER_PLAYER, another] as const] : [])];
  const answers = new Map(players.map(([viewer]) => [viewer, `the answer ${systemIds.token()}`] as const));
  const endpoint = await startChatEndpoint((request, response) => {
    const action = /Legal moves[^:]*: ([^,\n]*)/.exec(request.messages[1]?.content ?? "")?.[1];
    sendCompletion(response, JSON.stringify({ reason: answers.get(request.model), action }));
  });
  const root = recordsFolder(dataFolder);
  const models: Awaited<ReturnType<typeof modelOf>>[] = [];
  for (const [viewer, { received }] of players)
    models.push(await modelOf(viewer, received, join(root, fileNameOf(viewer)), endpoint));
  return {
    secretsOf: (hasEnded) =>
      [...answers].map(([viewer, text]) => ({ owners: [viewer], text, isRevealed: hasEnded && seats.has(viewer) })),
    async drain() {
      const moment = new Map<string, Map<string, string>>();
      for (const model of models) moment.set(model.viewer, new Map([[PROMPTS, await model.drain()]]));
      return moment;
    },
    async close() {
      const missing = models.filter(
        (model) => model.isAsked() && !model.records().includes(answers.get(model.viewer) ?? ""),
      );
      for (const model of models) await model.close();
      await endpoint.close();
      if (missing.length > 0) throw new Error(`no record of the answers of ${missing.map(({ viewer }) => viewer)}`);
    },
  };
}
