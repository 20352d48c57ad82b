// Boards name the types of games, some of which hash; nothing of Node is ever bundled.
declare module "node:crypto";
