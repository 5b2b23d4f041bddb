import type { EraseUserRequest } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppError } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import type { Apps } from './apps.ts';
import type { PrismaClient } from './store/generated/client.ts';

/**
 * Removes a person from every table. The person's apps are revoked first, because nobody could revoke them without an owner.
 * Without `revokeApps`, an app that is not revoked throws `conflict` and nothing is removed. Rows are deleted in steps that each commit. A
 * repeat completes an interrupted erasure.
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
    const of = { where: { userId }, limit: STEP_ROWS };
    const codes = await inSteps(() => prisma.authorizationCode.deleteMany(of));
    // Before their families, whose deletion would cascade to all of them in one statement.
    await inSteps(() => prisma.accessToken.deleteMany({ where: { family: { userId } }, limit: STEP_ROWS }));
    const families = await inSteps(() => prisma.tokenFamily.deleteMany(of));
    await prisma.developer.deleteMany({ where: { userId } });
    // An app registered in the meantime is not revoked; it keeps its owner until the repeat.
    const owned = await prisma.app.updateMany({
      where: { ownerId: userId, status: 'revoked' },
      data: { ownerId: '' },
    });
    return { codes, families, apps: owned.count };
  };
}

/** Rows of one step, far from what a statement has time for. */
const STEP_ROWS = 1_000;

/** Repeats a step until it deletes nothing, and returns how many rows all steps have deleted. */
async function inSteps(deleteRows: () => Promise<{ readonly count: number }>): Promise<number> {
  let total = 0;
  for (;;) {
    const { count } = await deleteRows();
    if (count === 0) return total;
    total += count;
  }
}
