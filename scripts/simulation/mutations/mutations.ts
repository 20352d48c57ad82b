import { CONTACT_FAULTS } from "./contact-faults.ts";
import { MANAGER_FAULTS } from "./manager-faults.ts";
import type { Mutation } from "./mutation.ts";
import { OPERATOR_FAULTS } from "./operator-faults.ts";
import { PLAYER_FAULTS } from "./player-faults.ts";
import { REFEREE_FAULTS } from "./referee-faults.ts";
import { SHARED_FAULTS } from "./shared-faults.ts";
import { SHARED_RUN_FAULTS } from "./shared-run-faults.ts";

/** The faults that the simulation must find. */
export const MUTATIONS: readonly Mutation[] = [
  ...MANAGER_FAULTS,
  ...OPERATOR_FAULTS,
  ...REFEREE_FAULTS,
  ...PLAYER_FAULTS,
  ...CONTACT_FAULTS,
  ...SHARED_FAULTS,
  ...SHARED_RUN_FAULTS,
];
