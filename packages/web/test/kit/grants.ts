import type { Grant } from '../../src/api/resources.ts';
import { type Answers, type BodyOf, example, listOf } from './answers.ts';
import { afterDays } from './times.ts';

export const { data: recordedGrant } = example('getGrant');

type Shown = BodyOf<'getGrant'>['data'];
export type GrantChanges = Partial<Omit<Grant, 'app'>> & { readonly app?: Partial<Grant['app']> };

/** An active connection, 20 days old and with 70 more: of heart and mood, nothing of which was read. */
export function grantOf({ app = {}, ...changes }: GrantChanges = {}): Shown {
  const scopes = ['read:health-data:heart', 'read:mood'];
  const life = { grantedAt: afterDays(-20), expiresAt: afterDays(70) };
  const unread = { accessCount: 0, lastAccessAt: null };
  return {
    ...recordedGrant,
    ...life,
    ...unread,
    scopes,
    ...changes,
    app: { ...recordedGrant.app, ...app },
  } as Shown;
}

/** What a person with these connections is answered; of the first one when a single one is asked for. */
export function answersOf(...grants: readonly Shown[]): Answers {
  return {
    listGrants: listOf(...grants),
    listPendingApprovals: listOf(),
    getGrant: { data: grants[0] ?? grantOf() },
    listAccesses: listOf(),
    summarizeAccesses: listOf(),
  };
}
