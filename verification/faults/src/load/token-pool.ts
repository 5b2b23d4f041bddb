import type { HeldToken } from './held-token.ts';

const MOST_OVER = 400;
const RECENT = 24;
/** Share of the reads that use an ended token; those read several times at once. */
const SHARE_OVER = 0.6;

/** The tokens of the steady readers. */
export class TokenPool {
  readonly #live = new Set<HeldToken>();
  /** Newest last. */
  #over: HeldToken[] = [];

  addLive(token: HeldToken): void {
    this.#live.add(token);
  }

  /** Marks a token as ended after the acknowledgement. The oldest ended tokens are dropped. */
  end(token: HeldToken): void {
    this.#live.delete(token);
    this.#over.push(token);
    if (this.#over.length > 2 * MOST_OVER) this.#over = this.#over.slice(-MOST_OVER);
  }

  remove(token: HeldToken): void {
    this.#live.delete(token);
    this.#over = this.#over.filter((each) => each !== token);
  }

  /** A token to read with: mostly an ended one, half of those from the latest; null when there is none. */
  pick(): HeldToken | null {
    const over = this.#over.length > 0 && (this.#live.size === 0 || Math.random() < SHARE_OVER);
    if (!over) return any([...this.#live]);
    return any(Math.random() < 0.5 ? this.#over.slice(-RECENT) : this.#over);
  }
}

function any<T>(values: readonly T[]): T | null {
  return values[Math.floor(Math.random() * values.length)] ?? null;
}
