import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import type pg from 'pg';
import { type ActionOf, APPS, type App, type Narrowing, SCOPES, type Status } from './history.ts';
import {
  Asking,
  pick,
  REDIRECT_URI,
  type RegisteredApp,
  Requests,
  Tokens,
  toClient,
  Wallet,
} from './requests.ts';
import type { System } from './system.ts';
import type { Ending, Restorable } from './trace.ts';
import type { Surroundings } from './variants.ts';

/** The tables of credentials, with the condition for the rows of the apps in $2. */
const TABLES = {
  consent: {
    consent_grant: 'client_id = ANY($2)',
    pending_approval: 'client_id = ANY($2)',
    app_epoch: 'client_id = ANY($2)',
    // This table has no reference to the app.
    revoked_family: 'true',
    revoked_token: 'true',
  },
  authorization: {
    authorization_request: 'client_id = ANY($2)',
    authorization_code: 'client_id = ANY($2)',
    token_family: 'client_id = ANY($2)',
    access_token: 'client_id = ANY($2)',
  },
} as const;

// As in the service, but immediately.
const PRUNE = 'SELECT prune_revoked_family(2, 5000), prune_revoked_token(2, 5000)';

const statements = new Map<pg.Pool, string>();

/**
 * Lets time pass for some apps by moving their rows into the past, because the databases' clocks cannot be set. Prunes the ledger.
 */
export async function passTime(
  { databases }: Surroundings,
  clientIds: readonly string[],
  ms: number,
  prune: string = PRUNE,
): Promise<void> {
  for (const service of ['consent', 'authorization'] as const) {
    const pool = databases[service];
    const statement = statements.get(pool) ?? (await toStatement(pool, TABLES[service]));
    statements.set(pool, statement);
    await pool.query(statement, [`${ms} milliseconds`, clientIds]);
  }
  await databases.consent.query(prune);
}

/** Moves every time in those rows. */
async function toStatement(pool: pg.Pool, tables: Readonly<Record<string, string>>): Promise<string> {
  const { rows } = await pool.query<{ name: string; moves: string }>(
    `SELECT attrelid::regclass::text AS name, string_agg(format('%1$I = %1$I - $1::interval', attname), ', ') AS moves
     FROM pg_attribute WHERE attrelid = ANY($1::regclass[]) AND atttypid = 'timestamptz'::regtype GROUP BY attrelid`,
    [Object.keys(tables)],
  );
  const updates = rows.map(
    ({ name, moves }) => `${name}_ AS (UPDATE ${name} SET ${moves} WHERE ${tables[name]})`,
  );
  return `WITH ${updates.join(', ')} SELECT`;
}

const STATUSES = {
  active: AppStatus.ACTIVE,
  suspended: AppStatus.SUSPENDED,
  revoked: AppStatus.REVOKED,
} as const satisfies Record<Status, AppStatus>;

/** The participants of one history: a person, who is also the developer of two apps, and these apps. */
export class People {
  readonly user = newId('person');
  readonly wallet = new Wallet();
  readonly asking: Asking;
  readonly requests: Requests;
  readonly tokens: Tokens;
  readonly #system: System;
  readonly #apps = new Map<App, RegisteredApp>();
  readonly #endedGrants = new Set<string>();

  constructor(system: System) {
    this.#system = system;
    this.asking = new Asking(system.control.tick);
    this.requests = new Requests(system, this.asking.trace, this.wallet);
    this.tokens = new Tokens(system, this.asking, this.wallet, this.requests);
  }

  async registerApps(): Promise<void> {
    for (const name of APPS) {
      const settings = { name, redirectUris: [REDIRECT_URI] };
      const { app, clientSecret } = await this.#system.apps.registerApp({ settings }, await this.#session());
      this.#apps.set(name, { clientId: app?.clientId ?? '', clientSecret, epoch: 0 });
    }
  }

  /** Approves, and lets the app exchange the code. */
  async approve({ app: name, asked, approved, dataFrom }: Omit<ActionOf<'approve'>, 'do'>): Promise<void> {
    const { authorizations } = this.#system;
    const app = this.#find(name);
    const scope = asked.join(' ');
    const opened = await this.asking.insist(() =>
      authorizations.openAuthorization({ client: toClient(app), redirectUri: REDIRECT_URI, scope }),
    );
    if (opened.answer === null) return;
    const { pendingId } = opened.answer;
    const { clientId, epoch } = app;
    const of = { user: this.user, app: clientId };
    const dropped = asked.filter((one) => !approved.includes(one));
    const back: Restorable[] = approved.map((one) => ({ kind: 'scope', ...of, scope: one }));
    const decision = { pendingId, scopes: [...approved], dataFrom };
    const { answer } = await this.asking.restore([...back, { kind: 'days', ...of, before: '' }], () =>
      this.asking.end(
        dropped.map((one) => ({ kind: 'scope', ...of, scope: one })),
        async () => authorizations.completeAuthorization(decision, await this.#session()),
      ),
    );
    if (answer === null) return;
    const { grantId: grant, redirectUri } = answer;
    this.wallet.grants.push({ id: grant, app });
    const code = new URL(redirectUri).searchParams.get('code') ?? '';
    await this.tokens.exchange({
      app,
      facts: { family: pendingId, grant, ...of, epoch },
      code,
      refreshTokens: [],
      refreshing: 0,
    });
  }

  async narrow({ which, to }: ActionOf<'narrow'>): Promise<void> {
    const grant = pick(this.wallet.grants, which);
    if (grant === undefined) return;
    const { id, app } = grant;
    // It ends without a request when its time is over; `wait` detects that.
    if ('lifeMs' in to) this.asking.note([{ kind: 'grant', grant: id }]);
    await this.asking.end(toEndings(to, { user: this.user, app: app.clientId }), async () =>
      this.#system.grants.narrowGrant({ id, ...toChange(to) }, await this.#session()),
    );
  }

  async revokeGrant({ which }: ActionOf<'revoke-grant'>): Promise<void> {
    const grant = pick(this.wallet.grants, which);
    if (grant === undefined) return;
    const { id } = grant;
    await this.asking.end([{ kind: 'grant', grant: id }], async () =>
      this.#system.grants.revokeGrant({ id }, await this.#session()),
    );
  }

  async revokeAll(): Promise<void> {
    const endings: Ending[] = this.wallet.grants.map(({ id }) => ({ kind: 'grant', grant: id }));
    // It may also end a grant that is being created concurrently.
    for (const { clientId } of this.#apps.values()) this.asking.note([{ kind: 'app', app: clientId }]);
    await this.asking.end(endings, async () =>
      this.#system.grants.revokeAllGrants({}, await this.#session()),
    );
  }

  async setStatuses({ app: name, statuses }: ActionOf<'set-status'>): Promise<void> {
    const app = this.#find(name);
    for (const status of statuses) await this.#setStatus(app, status);
  }

  /** Lets time pass, and checks which grants have ended. Nothing may be running at that time. */
  async wait({ ms }: ActionOf<'wait'>): Promise<void> {
    const { control, grants } = this.#system;
    const apps = [...this.#apps.values()].map(({ clientId }) => clientId);
    await passTime(control, apps, ms, control.variant?.prune);
    this.requests.passTime(ms);
    for (const { id } of this.wallet.grants) {
      const { grants: found } = await grants.listGrants({ grantId: id }, await this.#session());
      if (found[0]?.status === GrantStatus.ACTIVE || this.#endedGrants.has(id)) continue;
      this.#endedGrants.add(id);
      this.asking.trace.push({ kind: 'grant-ended', at: control.tick(), grant: id });
    }
  }

  async #setStatus(app: RegisteredApp, status: Status): Promise<void> {
    const { apps } = this.#system;
    const { clientId } = app;
    const set = async () => apps.setAppStatus({ clientId, status: STATUSES[status] }, await this.#session());
    if (status === 'suspended') await this.asking.end([{ kind: 'app', app: clientId }], set);
    if (status === 'revoked') {
      app.epoch += 1;
      await this.asking.end([{ kind: 'app-life', app: clientId, epoch: app.epoch }], set);
      app.clientSecret = '';
    }
    if (status !== 'active') return;
    await this.asking.restore([{ kind: 'app', app: clientId }], () => this.asking.insist(set));
    if (app.clientSecret !== '') return;
    const { answer } = await this.asking.insist(async () =>
      apps.rotateSecret({ clientId }, await this.#session()),
    );
    app.clientSecret = answer?.clientSecret ?? '';
  }

  #find(name: App): RegisteredApp {
    const app = this.#apps.get(name);
    if (app === undefined) throw new Error(`the ${name} app is not registered`);
    return app;
  }

  #session() {
    return this.#system.session(this.user);
  }
}

function toChange(to: Narrowing) {
  if ('keep' in to) return { setScopes: true, scopes: [to.keep] };
  if ('dataFrom' in to) return to;
  return { expiresAt: timestampFromDate(new Date(Date.now() + to.lifeMs)) };
}

/** The endings caused by a narrowing. */
function toEndings(to: Narrowing, of: { readonly user: string; readonly app: string }): Ending[] {
  if ('dataFrom' in to) return [{ kind: 'days', ...of, before: to.dataFrom }];
  const dropped = SCOPES.filter((scope) => 'keep' in to && scope !== to.keep);
  return dropped.map((scope) => ({ kind: 'scope', ...of, scope }));
}
