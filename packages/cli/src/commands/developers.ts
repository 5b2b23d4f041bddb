import { callAsOperator, PAGE_SIZE, toInstant, toJson } from '../operator/call.ts';
import { APP_OPERATOR } from './apps.ts';
import type { OperatorSurroundings } from './restore.ts';

/** `phds developers list`: prints one page of the people who may register apps. Returns the exit code. */
export async function listDevelopers(
  { page, json }: { readonly page: number; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(APP_OPERATOR, json, surroundings, async (client) => {
    const { developers, total } = await client.listDevelopers({ page: { page, pageSize: PAGE_SIZE } });
    const entries = developers.map(({ userId, addedAt }) => ({ user: userId, addedAt: toInstant(addedAt) }));
    const pages = Math.ceil(total / PAGE_SIZE);
    if (json) return toJson({ developers: entries, page, pages, total });
    const lines = entries.map(({ user, addedAt }) => `${addedAt}  ${user}\n`);
    return `${lines.join('')}${total} developers in total.\n`;
  });
}

/** `phds developers add|remove`. Returns the exit code. */
export async function changeDevelopers(
  {
    action,
    userId,
    json,
  }: { readonly action: 'add' | 'remove'; readonly userId: string; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(APP_OPERATOR, json, surroundings, async (client) => {
    await (action === 'add' ? client.addDeveloper({ userId }) : client.removeDeveloper({ userId }));
    const mayRegister = action === 'add';
    if (json) return toJson({ user: userId, mayRegister });
    return `${userId} ${mayRegister ? 'may register apps' : 'is not on the list of developers'}.\n`;
  });
}
