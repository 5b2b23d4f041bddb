import type { Consent } from './consent.ts';
import type { Access, Verdict } from './ledger.ts';
import type { VariantName } from './variants.ts';
import { refused, type Steps, Unavailable, type World } from './world.ts';

/** The health-data service: reads, has the access recorded, and releases only what was judged alive. */
export class HealthData {
  readonly #world: World;
  readonly #consent: Consent;
  readonly #variant: VariantName | null;

  constructor(parts: { world: World; consent: Consent; variant: VariantName | null }) {
    this.#world = parts.world;
    this.#consent = parts.consent;
    this.#variant = parts.variant;
  }

  /** Returns when the data may leave; throws `Refused` with the verdict, or `Unavailable` when there is no record. */
  *read(access: Access, fromCache: boolean): Steps<void> {
    // The rows are read here.
    yield;
    if (fromCache && this.#variant === 'cache-judges-alone') return;
    const verdict = yield* this.#record(access);
    if (verdict !== 'released') throw refused(verdict);
  }

  *#record(access: Access): Steps<Verdict> {
    try {
      return yield* this.#world.call('consent', () => this.#consent.recordAccess(access));
    } catch (error) {
      if (error instanceof Unavailable && this.#variant === 'released-when-consent-is-away')
        return 'released';
      throw error;
    }
  }
}
