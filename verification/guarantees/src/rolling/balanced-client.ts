/** An HTTP answer, or the reason why there was none. */
export interface BalancedAnswer {
  /** 0 without an answer. */
  readonly status: number;
  readonly text: string;
}

export interface BalancedRequest {
  readonly method?: string;
  readonly bearer?: string;
  readonly json?: unknown;
  /** The gateway of the first attempt; otherwise the next one that is ready. */
  readonly first?: string;
}

const CHECK_INTERVAL_MS = 100;
const ANSWER_LIMIT_MS = 30_000;

/**
 * A client in front of several gateways, like an app behind a balancer that checks `/readyz` ten times a second. A request without an
 * answer, or with a status of 500 or above, is repeated once, at another gateway.
 */
export class BalancedClient implements Disposable {
  readonly #gateways: readonly string[];
  readonly #ready: Set<string>;
  readonly #checks: NodeJS.Timeout;
  #next = 0;
  /** Requests that were repeated, by the reason. */
  readonly repeated = new Map<string, number>();

  constructor(gateways: readonly string[]) {
    this.#gateways = gateways;
    this.#ready = new Set(gateways);
    this.#checks = setInterval(() => void this.#check(), CHECK_INTERVAL_MS);
  }

  /** The gateways that were ready at their last check. */
  get ready(): readonly string[] {
    return [...this.#ready];
  }

  async send(path: string, request: BalancedRequest = {}): Promise<BalancedAnswer> {
    const first = request.first ?? this.#choose();
    const answer = await ask(first + path, request);
    if (answer.status !== 0 && answer.status < 500) return answer;
    const reason = answer.status === 0 ? answer.text : `${answer.status} ${answer.text.slice(0, 120)}`;
    this.repeated.set(reason, (this.repeated.get(reason) ?? 0) + 1);
    return ask(this.#choose(first) + path, request);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#checks);
  }

  /** The next ready gateway other than this one; if there is none, any other. */
  #choose(except?: string): string {
    const others = (urls: Iterable<string>) => [...urls].filter((url) => url !== except);
    const ready = others(this.#ready);
    const choice = ready.length > 0 ? ready : others(this.#gateways);
    this.#next += 1;
    return choice[this.#next % choice.length] ?? '';
  }

  async #check(): Promise<void> {
    await Promise.all(
      this.#gateways.map(async (url) => {
        const { status } = await ask(`${url}/readyz`, {});
        if (status === 200) this.#ready.add(url);
        else this.#ready.delete(url);
      }),
    );
  }
}

async function ask(url: string, { method, bearer, json }: BalancedRequest): Promise<BalancedAnswer> {
  try {
    const response = await fetch(url, {
      method: method ?? (json === undefined ? 'GET' : 'POST'),
      headers: {
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return { status: 0, text: String((cause as { code?: string }).code ?? cause) };
  }
}
