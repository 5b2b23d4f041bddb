import type { Client } from '@connectrpc/connect';
import type { AppLockKind } from '@phds/catalog/wire-names';
import { AppOperatorService, type OperatedApp } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { AppLockKind as Kind, AppStatus as Status } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { callAsOperator, type OperatorSurroundings, PAGE_SIZE, toInstant } from '../operator/connection.ts';
import { toJson } from './command.ts';

const APP_OPERATOR = ['authorization', AppOperatorService] as const;

const KINDS: Readonly<Record<AppLockKind, Kind>> = { suspension: Kind.SUSPENSION, approval: Kind.APPROVAL };

interface ListAppsArguments {
  /** Empty for every developer. */
  readonly ownerId: string;
  readonly lockKind: AppLockKind | null;
  readonly page: number;
  readonly json: boolean;
}

/** `phds apps list`: prints one page of the apps of all developers. Returns the exit code. */
export async function listApps(
  { ownerId, lockKind, page, json }: ListAppsArguments,
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(APP_OPERATOR, json, surroundings, async (client) => {
    const kind = lockKind === null ? Kind.UNSPECIFIED : KINDS[lockKind];
    const { apps, total } = await client.listAllApps({
      ownerId,
      lockKind: kind,
      page: { page, pageSize: PAGE_SIZE },
    });
    const entries = apps.map(toEntry);
    const pages = Math.ceil(total / PAGE_SIZE);
    if (json) return toJson({ apps: entries, page, pages, total });
    if (total === 0) return 'No apps.\n';
    return `${entries.map(toParagraph).join('\n')}\nPage ${page} of ${pages}, ${total} apps in total.\n`;
  });
}

export type AppAction = 'show' | 'suspend' | 'resume' | 'approve' | 'transfer';

interface Choices {
  /** Of a suspension. */
  readonly reason?: string;
  /** The fingerprint of what may be used again. */
  readonly seen?: string;
  /** The next developer. */
  readonly toUser?: string;
}

interface AppArguments {
  readonly action: AppAction;
  readonly clientId: string;
  readonly choices: Choices;
  readonly json: boolean;
}

/** `phds apps show|suspend|resume|approve|transfer`: in effect everywhere before it prints the app. Returns the exit code. */
export async function runOnApp(
  { action, clientId, choices, json }: AppArguments,
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(APP_OPERATOR, json, surroundings, async (client) => {
    const { app } = await ACTIONS[action](client, clientId, choices);
    if (app === undefined) throw new Error('authorization answered without the app');
    return json ? toJson(toEntry(app)) : toParagraph(toEntry(app));
  });
}

type Apps = Client<typeof AppOperatorService>;

const ACTIONS: Readonly<
  Record<
    AppAction,
    (apps: Apps, clientId: string, choices: Choices) => Promise<{ app?: OperatedApp | undefined }>
  >
> = {
  show: (apps, clientId) => apps.getAnyApp({ clientId }),
  suspend: (apps, clientId, { reason = '' }) => apps.suspendApp({ clientId, reason }),
  resume: (apps, clientId, { seen = '' }) =>
    apps.liftAppLock({ clientId, kind: Kind.SUSPENSION, seenFingerprint: seen }),
  async transfer(apps, clientId, { toUser = '' }) {
    const { app } = await apps.getAnyApp({ clientId });
    return apps.transferApp({ clientId, userId: toUser, fromUserId: app?.ownerId ?? '' });
  },
  approve: (apps, clientId, { seen = '' }) =>
    apps.liftAppLock({ clientId, kind: Kind.APPROVAL, seenFingerprint: seen }),
};

function toEntry({ app, ownerId, statusChangedAt, fingerprint }: OperatedApp) {
  const orNull = (text: string | undefined) => text || null;
  const lock = app?.lock;
  return {
    clientId: app?.clientId ?? '',
    name: app?.name ?? '',
    developerName: orNull(app?.developerName),
    owner: orNull(ownerId),
    status: Status[app?.status ?? Status.UNSPECIFIED].toLowerCase(),
    statusChangedAt: toInstant(statusChangedAt),
    lock:
      lock === undefined
        ? null
        : {
            kind: Kind[lock.kind].toLowerCase() as AppLockKind,
            reason: orNull(lock.reason),
            since: toInstant(lock.since),
          },
    description: orNull(app?.description),
    homepageUrl: orNull(app?.homepageUrl),
    privacyPolicyUrl: orNull(app?.privacyPolicyUrl),
    redirectUris: app?.redirectUris ?? [],
    scopes: app?.scopes ?? [],
    createdAt: toInstant(app?.createdAt),
    updatedAt: toInstant(app?.updatedAt),
    fingerprint,
  };
}

function toParagraph(app: ReturnType<typeof toEntry>): string {
  const { clientId, name, developerName, owner, status, statusChangedAt, lock } = app;
  const by = developerName === null ? '' : ` by ${developerName}`;
  const why = {
    suspension: `  locked     suspended by an operator since ${lock?.since}: ${lock?.reason}`,
    approval: `  locked     waits for an approval since ${lock?.since}`,
  };
  return [
    `${clientId}  ${name}${by}`,
    `  status     ${status} since ${statusChangedAt}`,
    ...(lock === null ? [] : [why[lock.kind]]),
    `  updated    ${app.updatedAt}`,
    `  owner      ${owner ?? 'an erased person'}`,
    `  about      ${app.description ?? 'nothing'}`,
    `  homepage   ${app.homepageUrl ?? 'none'}`,
    `  privacy    ${app.privacyPolicyUrl ?? 'none'}`,
    `  redirects  ${app.redirectUris.join(' ')}`,
    `  scopes     ${app.scopes.join(' ')}`,
    `  seen       ${app.fingerprint}`,
    '',
  ].join('\n');
}

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
    hidesUser,
    json,
  }: {
    readonly action: 'add' | 'remove';
    readonly userId: string;
    readonly hidesUser: boolean;
    readonly json: boolean;
  },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(APP_OPERATOR, json, surroundings, async (client) => {
    await (action === 'add' ? client.addDeveloper({ userId }) : client.removeDeveloper({ userId }));
    const mayRegister = action === 'add';
    if (json) return toJson({ user: hidesUser ? null : userId, mayRegister });
    return `${hidesUser ? 'The person' : userId} ${mayRegister ? 'may register apps' : 'is not on the list of developers'}.\n`;
  });
}
