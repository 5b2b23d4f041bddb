import type { DescMethodUnary } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { APP_LOCK_KINDS } from '@phds/catalog/wire-names';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { GrantService } from '@phds/contracts/phds/consent/v1/grants_pb';
import { PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import { WebhookOperatorService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { Option } from 'commander';
import { parseNotEmpty, timeOption } from '../options.ts';

/**
 * The operators' commands that are one rpc each. `command.ts` makes a command of each row, a request of its arguments, and a table or JSON of
 * the answer. It adds `--page` where the request has a page, and a mandatory `--reason` where the rpc changes something; a reason that the
 * request has is the same one. A command that makes several calls has a file of its own in `commands/`.
 */
export interface OperatorCommand {
  /** Group and command. */
  readonly name: string;
  readonly does: string;
  readonly rpc: DescMethodUnary;
  /** The field of the request that is given as an argument, and what it is. */
  readonly argument?: readonly [field: string, description: string];
  /** Whom `--user` or `--user-file` names: the field `userId`. */
  readonly user?: string;
  /** By field of the request. */
  readonly options?: Readonly<Record<string, Option>>;
  /** Fields of the request that are always the same. */
  readonly fields?: Readonly<Record<string, string | boolean>>;
  /** Reads further fields of the request. */
  readonly complete?: (
    client: Client<typeof AppOperatorService>,
    clientId: string,
  ) => Promise<Record<string, string>>;
  readonly reason?: string;
  /** The field of the answer that is printed: a table if it is a list, unless an argument names the only item. The whole answer without it. */
  readonly prints?: string;
  /** The path of the printed field, by heading. */
  readonly columns?: Columns;
  /** Printed for an answer without fields. */
  readonly done?: string;
}

export type Columns = Readonly<Record<string, string>>;

export const GROUPS: Readonly<Record<string, string>> = {
  apps: 'Shows, suspends, resumes and approves apps.',
  developers: 'The people who may register apps, where DEVELOPERS is `listed`.',
  people: 'Shows a person.',
  grants: 'Lists the grants of a person, and ends one.',
  sessions: 'Ends the sessions of a person.',
  webhooks: 'Shows, pauses and resumes webhooks.',
};

const APPS = AppOperatorService.method;
const GRANTS = GrantService.method;
const PEOPLE = PersonOperatorService.method;
const WEBHOOKS = WebhookOperatorService.method;

const APP: Pick<OperatorCommand, 'argument' | 'prints' | 'columns'> = {
  argument: ['clientId', 'the app'],
  prints: 'app',
  columns: {
    app: 'app.clientId',
    name: 'app.name',
    by: 'app.developerName',
    status: 'app.status',
    changed: 'statusChangedAt',
    locked: 'app.lock.kind',
    why: 'app.lock.reason',
    since: 'app.lock.since',
    updated: 'app.updatedAt',
    owner: 'ownerId',
    about: 'app.description',
    homepage: 'app.homepageUrl',
    privacy: 'app.privacyPolicyUrl',
    redirects: 'app.redirectUris',
    scopes: 'app.scopes',
    seen: 'fingerprint',
  },
};

const SEEN = {
  seenFingerprint: required('--seen <fingerprint>', 'what `show` printed as `seen`: no other settings pass'),
};

const WEBHOOK = { argument: ['clientId', 'the app, or host:NAME'] } as const;

export const OPERATOR_COMMANDS: readonly OperatorCommand[] = [
  {
    name: 'apps list',
    does: 'Lists the apps of all developers, newest first, a hundred on a page.',
    rpc: APPS.listAllApps,
    options: {
      ownerId: new Option('--owner <id>', 'only apps of this developer').argParser(parseNotEmpty),
      lockKind: new Option('--locked <why>', 'only apps that are locked for this reason').choices(
        APP_LOCK_KINDS,
      ),
    },
    prints: 'apps',
    columns: {
      app: 'app.clientId',
      name: 'app.name',
      owner: 'ownerId',
      status: 'app.status',
      locked: 'app.lock.kind',
      since: 'app.lock.since',
    },
  },
  {
    ...APP,
    name: 'apps show',
    does: 'Prints an app, with its developer and why it is locked.',
    rpc: APPS.listAllApps,
    prints: 'apps',
  },
  {
    ...APP,
    name: 'apps suspend',
    does: 'Suspends an app at once. Its developer sees the reason and cannot lift this; repeat it to change the reason.',
    rpc: APPS.suspendApp,
    reason: 'why; also what the developer is told',
  },
  {
    ...APP,
    name: 'apps resume',
    does: 'Lifts the suspension; tokens that have not expired work again.',
    rpc: APPS.liftAppLock,
    fields: { kind: 'suspension' },
    options: SEEN,
  },
  {
    ...APP,
    name: 'apps approve',
    does: 'Lets people see a new app that waits for an approval.',
    rpc: APPS.liftAppLock,
    fields: { kind: 'approval' },
    options: SEEN,
  },
  {
    ...APP,
    name: 'apps transfer',
    does: 'Makes somebody else the developer of an app. The former one finds it no longer.',
    rpc: APPS.transferApp,
    options: { userId: required('--to-user <id>', 'the next developer') },
    complete: async (apps, clientId) => ({
      fromUserId: (await apps.listAllApps({ clientId })).apps[0]?.ownerId ?? '',
    }),
  },
  {
    name: 'developers list',
    does: 'Lists them by user id, a hundred on a page.',
    rpc: APPS.listDevelopers,
    prints: 'developers',
    columns: { user: 'userId', added: 'addedAt' },
  },
  {
    name: 'developers add',
    does: 'Lets a person register apps.',
    rpc: APPS.addDeveloper,
    user: 'the person',
    done: 'The person may register apps.',
  },
  {
    name: 'developers remove',
    does: 'No longer lets a person register apps.',
    rpc: APPS.removeDeveloper,
    user: 'the person',
    done: 'The person is not on the list of developers.',
  },
  {
    name: 'people show',
    does: 'Prints how many grants and open requests a person has, and the last read; never health data.',
    rpc: PEOPLE.getPerson,
    user: 'the person',
    columns: {
      'active grants': 'activeGrants',
      'ended grants': 'endedGrants',
      'open requests': 'openRequests',
      'last read': 'lastAccessAt',
    },
  },
  {
    name: 'grants list',
    does: 'Lists the grants of a person, newest first, a hundred on a page.',
    rpc: GRANTS.listGrants,
    user: 'the person',
    prints: 'grants',
    columns: {
      grant: 'id',
      app: 'app.clientId',
      name: 'app.name',
      status: 'status',
      since: 'grantedAt',
      until: 'expiresAt',
      ended: 'revokedAt',
      by: 'endedBy',
      reads: 'accessCount',
      'last read': 'lastAccessAt',
      scopes: 'scopes',
    },
  },
  {
    name: 'grants revoke',
    does: 'Ends a grant at once. The person sees that an operator ended it.',
    rpc: GRANTS.endGrant,
    argument: ['grantId', 'the grant'],
    columns: { ended: 'revokedAt' },
  },
  {
    name: 'sessions end',
    does: 'Ends all sessions of a person that were issued until now. Grants stay.',
    rpc: PEOPLE.endPersonSessions,
    user: '`sub` of the sessions',
    done: 'All sessions of the person have ended.',
  },
  {
    name: 'webhooks list',
    does: 'Lists the webhooks of all apps and of the deployment, those in trouble first, a hundred on a page.',
    rpc: WEBHOOKS.listWebhooks,
    prints: 'webhooks',
    columns: {
      webhook: 'webhook.clientId',
      name: 'appName',
      url: 'webhook.url',
      pending: 'pending',
      failed: 'failed',
      'failing since': 'webhook.failingSince',
      disabled: 'webhook.disabledReason',
      'paused since': 'pausedAt',
    },
  },
  {
    ...WEBHOOK,
    name: 'webhooks pause',
    does: 'Sends nothing to a webhook; events wait. The developer of an app cannot lift it.',
    rpc: WEBHOOKS.setWebhookPaused,
    fields: { paused: true },
    done: 'The webhook is paused; its events wait.',
  },
  {
    ...WEBHOOK,
    name: 'webhooks resume',
    does: 'Sends events again, also those that waited.',
    rpc: WEBHOOKS.setWebhookPaused,
    fields: { paused: false },
    done: 'The webhook is not paused.',
  },
  {
    ...WEBHOOK,
    name: 'webhooks redeliver',
    does: 'Delivers the events again that were given up.',
    rpc: WEBHOOKS.redeliverEvents,
    options: {
      since: timeOption(
        '--since <time>',
        'only events that were made since this time (RFC 3339)',
      ).makeOptionMandatory(),
      deliveredToo: new Option('--delivered-too', 'also events that the receiver has accepted'),
    },
    columns: { 'delivered again': 'events' },
  },
];

function required(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseNotEmpty).makeOptionMandatory();
}
