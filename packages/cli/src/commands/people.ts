import type { ConsentGrant } from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import { callAsOperator, type OperatorSurroundings, PAGE_SIZE, toInstant } from '../operator/connection.ts';
import type { ChosenUser } from '../options.ts';
import { toJson } from './command.ts';

const PEOPLE = ['consent', PersonOperatorService] as const;

/** `phds people show`: prints what consent knows of a person, which is never health data. Returns the exit code. */
export async function showPerson(
  { userId, hidesUser, json }: ChosenUser & { readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(PEOPLE, json, surroundings, async (client) => {
    const { activeGrants, endedGrants, openRequests, lastAccessAt } = await client.getPerson({ userId });
    const lastRead = lastAccessAt === undefined ? null : toInstant(lastAccessAt);
    if (json)
      return toJson({ user: hidesUser ? null : userId, activeGrants, endedGrants, openRequests, lastRead });
    return `${[
      hidesUser ? 'The person' : userId,
      `  grants    ${activeGrants} active, ${endedGrants} ended`,
      `  requests  ${openRequests} open`,
      `  last read ${lastRead ?? 'never'}`,
    ].join('\n')}\n`;
  });
}

/** `phds grants list`: prints one page of the grants of a person, newest first. Returns the exit code. */
export async function listPersonGrants(
  { userId, page, json }: { readonly userId: string; readonly page: number; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(PEOPLE, json, surroundings, async (client) => {
    const { grants, total } = await client.listPersonGrants({ userId, page: { page, pageSize: PAGE_SIZE } });
    const entries = grants.map(toEntry);
    const pages = Math.ceil(total / PAGE_SIZE);
    if (json) return toJson({ grants: entries, page, pages, total });
    return `${entries.map(toParagraph).join('')}${total} grants in total.\n`;
  });
}

/** `phds grants revoke`: ends a grant; in effect everywhere when it has ended. Returns the exit code. */
export async function revokeGrant(
  { grantId, json }: { readonly grantId: string; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(PEOPLE, json, surroundings, async (client) => {
    const endedAt = toInstant((await client.endGrant({ grantId })).revokedAt);
    return json ? toJson({ id: grantId, endedAt }) : `${grantId} ended at ${endedAt}.\n`;
  });
}

/** `phds sessions end`: ends all sessions of a person that were issued until now. Returns the exit code. */
export async function endSessions(
  { userId, hidesUser, json }: ChosenUser & { readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(PEOPLE, json, surroundings, async (client) => {
    await client.endPersonSessions({ userId });
    if (json) return toJson({ user: hidesUser ? null : userId, ended: true });
    return `All sessions of ${hidesUser ? 'the person' : userId} have ended.\n`;
  });
}

function toEntry({ id, app, scopes, status, grantedAt, expiresAt, revokedAt, ...grant }: ConsentGrant) {
  return {
    id,
    app: { clientId: app?.clientId ?? '', name: app?.name ?? '' },
    status: GrantStatus[status].toLowerCase(),
    scopes,
    since: toInstant(grantedAt),
    until: toInstant(expiresAt),
    endedAt: revokedAt === undefined ? null : toInstant(revokedAt),
    endedBy: grant.endedBy || null,
    reads: grant.accessCount,
    lastRead: grant.lastAccessAt === undefined ? null : toInstant(grant.lastAccessAt),
  };
}

function toParagraph({
  id,
  app,
  status,
  scopes,
  since,
  until,
  endedAt,
  endedBy,
  reads,
  lastRead,
}: ReturnType<typeof toEntry>) {
  const end = endedAt === null ? `until ${until}` : `ended at ${endedAt} by ${endedBy}`;
  return [
    `${id}  ${status}`,
    `  app     ${app.name}, ${app.clientId}`,
    `  scopes  ${scopes.join(' ')}`,
    `  since   ${since}, ${end}`,
    `  reads   ${reads}${lastRead === null ? '' : `, the last at ${lastRead}`}`,
    '',
  ].join('\n');
}
