import type { EraseUserRequest } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppError } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import type { Apps } from './apps.ts';
import type { PrismaClient } from './store/generated/client.ts';

/**
 * Removes a person from every table. The person's apps are revoked first, because nobody could revoke them without an owner.
 * Without `revokeApps`, an app that is not revoked throws `conflict` and nothing is removed. Each table is a statement that commits, which
 * has time for all that a person's apps can make in the days that rows are kept. A repeat completes an interrupted erasure.
 */
export function createErasure({
  prisma,
  apps,
}: {
  readonly prisma: PrismaClient;
  readonly apps: Pick<Apps, 'setStatus'>;
}) {
  return async ({ userId: text, revokeApps }: EraseUserRequest) => {
    const userId = parseUserId(text);
    const open = await prisma.app.findMany({
      where: { ownerId: userId, status: { not: 'revoked' } },
      select: { clientId: true },
    });
    if (open.length > 0 && !revokeApps) {
      throw new AppError('conflict', `The person owns ${open.length} apps that are not revoked.`);
    }
    for (const { clientId } of open) await apps.setStatus(userId, clientId, 'revoked');
    const codes = await prisma.authorizationCode.deleteMany({ where: { userId } });
    // Their access tokens go with them.
    const families = await prisma.tokenFamily.deleteMany({ where: { userId } });
    await prisma.developer.deleteMany({ where: { userId } });
    // An app registered in the meantime is not revoked; it keeps its owner until the repeat.
    const owned = await prisma.app.updateMany({
      where: { ownerId: userId, status: 'revoked' },
      data: { ownerId: '' },
    });
    return { codes: codes.count, families: families.count, apps: owned.count };
  };
}
