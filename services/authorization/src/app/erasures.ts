import { AppError } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import type { Apps } from './apps.ts';

/** What the erasure of a person removed. */
export interface Erasure {
  readonly codes: number;
  readonly families: number;
  /** Apps that have no owner any more. */
  readonly apps: number;
}

/** Where people are named. */
export interface PersonStore {
  /** Client ids of the person's apps that are not revoked. */
  findOpenApps(userId: string): Promise<string[]>;
  /** Removes every row of the person, and the person from the apps; all or nothing. */
  erase(userId: string): Promise<Erasure>;
}

/**
 * The end of a person's presence (contract section 8). Apps are ended for everybody before they lose their owner, since nobody could
 * end them afterwards; that has to be asked for. Throws `conflict`, with nothing removed, when it was not. A repeat finishes what a
 * crash left.
 */
export type EraseUser = (userId: string, revokeApps: boolean) => Promise<Erasure>;

export function createEraseUser(dependencies: {
  readonly people: PersonStore;
  readonly apps: Pick<Apps, 'setStatus'>;
}): EraseUser {
  const { people, apps } = dependencies;
  return async (userId, revokeApps) => {
    parseUserId(userId);
    const open = await people.findOpenApps(userId);
    if (open.length > 0 && !revokeApps) {
      throw new AppError('conflict', `The person owns ${open.length} apps that are not revoked.`);
    }
    for (const clientId of open) await apps.setStatus(userId, clientId, 'revoked');
    return people.erase(userId);
  };
}
