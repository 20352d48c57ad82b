/** Releases the invitations of a round, player by player. */
export class Gate {
  readonly #players = new Map<string, PromiseWithResolvers<void>>();

  /** Resolves when the invitation of a player may be sent. */
  passed(playerId: string): Promise<void> {
    return this.#of(playerId).promise;
  }

  open(playerId: string): void {
    this.#of(playerId).resolve();
  }

  openForAll(): void {
    for (const { resolve } of this.#players.values()) resolve();
  }

  #of(playerId: string): PromiseWithResolvers<void> {
    const release = this.#players.get(playerId) ?? Promise.withResolvers<void>();
    this.#players.set(playerId, release);
    return release;
  }
}
