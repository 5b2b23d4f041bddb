import { notFound } from '@phds/service-kit/errors';
import type { Restore } from '../domain/restore.ts';

/** Restores of this service's database; what they suspend is judged where credentials are read (docs/decisions/0011). */
export interface RestoreLog {
  /** Compares the database with what was acknowledged, and writes down what follows. */
  notice(): Promise<void>;
  /** The latest; null when there never was one. */
  findLatest(): Promise<Restore | null>;
  /** Apps that are active but for their secret, which is suspended. */
  countSuspended(): Promise<number>;
  declare(): Promise<Restore>;
  /** Confirms it and all before it; null when there is none of that number. Idempotent. */
  confirm(number: number): Promise<Restore | null>;
}

/** How the service stands after restores. */
export interface RestoreStatus {
  readonly latest: Restore | null;
  readonly suspendedApps: number;
}

/** What whoever operates the service may say about restores. */
export interface Restores {
  status(): Promise<RestoreStatus>;
  /** Suspends every secret, code and token from before; effective when it answers. */
  declare(): Promise<Restore>;
  /** Throws `not_found` for a restore that never was. */
  confirm(number: number): Promise<Restore>;
}

export function createRestores(log: RestoreLog): Restores {
  return {
    async status() {
      // What nobody has noticed yet has no number that could be confirmed.
      await log.notice();
      const [latest, suspendedApps] = await Promise.all([log.findLatest(), log.countSuspended()]);
      return { latest, suspendedApps };
    },
    declare: () => log.declare(),
    async confirm(number) {
      const confirmed = await log.confirm(number);
      if (confirmed === null) throw notFound();
      return confirmed;
    },
  };
}
