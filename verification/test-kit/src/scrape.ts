/** One line of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The answer of a probe port's /metrics, in Prometheus's text format. */
export class Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];

  constructor(text: string) {
    this.text = text;
    this.samples = text
      .split('\n')
      .flatMap((line) => (line === '' || line.startsWith('#') ? [] : [parse(line)]));
  }

  /** Type and help of each metric, by name. */
  get declarations(): ReadonlyMap<string, { readonly type: string; readonly help: string }> {
    const helps = new Map(
      [...this.text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => [name, help]),
    );
    const types = [...this.text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    return new Map(types.map(([, name = '', type = '']) => [name, { type, help: helps.get(name) ?? '' }]));
  }

  /** The sum of the samples of this name that have these labels; 0 if there is none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const wanted = Object.entries(labels);
    const matching = this.samples.filter(
      (sample) => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
    );
    return matching.reduce((sum, { value }) => sum + value, 0);
  }

  /** The values of a label of a metric, each once. */
  valuesOf(name: string, label: string): string[] {
    const values = this.samples.flatMap((sample) =>
      sample.name === name ? [sample.labels[label] ?? ''] : [],
    );
    return [...new Set(values)].toSorted();
  }
}

/** Reads the metrics of a service. `probeUrl` is the base URL of its probe port. */
export async function scrape(probeUrl: string): Promise<Scrape> {
  const response = await fetch(`${probeUrl}/metrics`);
  if (!response.ok) throw new Error(`/metrics was answered with status ${response.status}`);
  return new Scrape(await response.text());
}

function parse(line: string): Sample {
  const match = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line);
  if (match === null) throw new Error(`not a sample: ${line}`);
  const [, name = '', labels = '', value = ''] = match;
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
    value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
  };
}
