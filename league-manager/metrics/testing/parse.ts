/** The values of a text in the format of Prometheus, by name and labels as they are written. Throws if the text breaks a rule of the format. */
export function parseMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  const described = new Set<string>();
  let family = "";
  for (const line of text.split("\n")) {
    const [, name = ""] = /^# TYPE (\S+) (?:counter|gauge|histogram|summary)$/.exec(line) ?? [];
    if (name !== "") {
      if (described.has(name)) throw new Error(`${name} is described twice`);
      described.add(name);
      family = name;
    } else if (line !== "" && !/^# HELP \S+ \S.*$/.test(line)) {
      const [, sample = "", value] = /^([a-z_][a-z0-9_]*(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? [];
      const isValue = value?.toLowerCase() === "nan" || (value !== undefined && !Number.isNaN(Number(value)));
      if (!sample.startsWith(family) || !isValue || values.has(sample)) throw new Error(line);
      values.set(sample, Number(value));
    }
  }
  return values;
}
