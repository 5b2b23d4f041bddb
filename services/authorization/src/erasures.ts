import type { EraseUserRequest } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppError } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import type { Apps } from './apps.ts';
import type { PersonStore } from './store/pg-people.ts';

/**
 * Removes a person from every table. The person's apps are revoked first, because nobody could revoke them without an owner.
 * Without `revokeApps`, an app that is not revoked throws `conflict` and nothing is removed. A repeat completes an interrupted
 * erasure.
 */
export function createErasure({
  people,
  apps,
}: {
  readonly people: PersonStore;
  readonly apps: Pick<Apps, 'setStatus'>;
}) {
  return async ({ userId, revokeApps }: EraseUserRequest) => {
    parseUserId(userId);
    const open = await people.findOpenApps(userId);
    if (open.length > 0 && !revokeApps) {
      throw new AppError('conflict', `The person owns ${open.length} apps that are not revoked.`);
    }
    for (const clientId of open) await apps.setStatus(userId, clientId, 'revoked');
    return people.erase(userId);
  };
}
