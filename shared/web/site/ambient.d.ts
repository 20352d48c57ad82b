// Boards import types of games, and some games hash. No Node module is bundled.
declare module "node:crypto";
