const NAME_KEY = "agent-league/name";

/** Returns the name that the person at this browser has entered last; "" for none. */
export function savedName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}

export function saveName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // The storage is not permitted. The name is entered again.
  }
}
