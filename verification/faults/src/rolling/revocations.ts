import { REDIRECT_URI } from '@phds/running-system/partner-app';
import type { PersonWithApp } from '@phds/running-system/revocation-ways';
import { HEART } from '@phds/running-system/revocation-ways';
import { HEART_PATH } from '@phds/running-system/working-system';
import type { BalancedAnswer, BalancedClient, BalancedRequest } from './balanced-client.ts';

/** Connections that were granted, read, revoked and read again. */
export interface Revocations {
  readonly acknowledged: number;
  /** Reads that started after an acknowledged revocation, and how many got data. */
  readonly readsAfter: number;
  readonly stale: number;
  /** Requests of these rounds that were not answered as they should, after the repeat. */
  readonly failed: readonly string[];
}

/** Grants and revokes over and over, until it is stopped. */
export class RevocationRounds {
  readonly #client: BalancedClient;
  readonly #running: Promise<void>;
  readonly #failed: string[] = [];
  #acknowledged = 0;
  #readsAfter = 0;
  #stale = 0;
  #isOver = false;

  constructor(client: BalancedClient, people: readonly PersonWithApp[]) {
    this.#client = client;
    this.#running = Promise.all(people.map((person) => this.#playOn(person))).then(() => undefined);
  }

  async stop(): Promise<Revocations> {
    this.#isOver = true;
    await this.#running;
    return {
      acknowledged: this.#acknowledged,
      readsAfter: this.#readsAfter,
      stale: this.#stale,
      failed: this.#failed,
    };
  }

  async #playOn(person: PersonWithApp): Promise<void> {
    while (!this.#isOver) {
      await this.#play(person).catch((error: unknown) => void this.#failed.push((error as Error).message));
    }
  }

  async #play({ app, session }: PersonWithApp): Promise<void> {
    const { credentials } = app;
    const common = { ...credentials, redirect_uri: REDIRECT_URI };
    const asked = await this.#expect(201, '/oauth/authorize', { json: { ...common, scope: HEART } });
    const approval = { bearer: session, json: { scopes: [HEART] } };
    const { data } = await this.#expect(
      200,
      `/partner/consent/pending/${asked.pending_id}/approve`,
      approval,
    );
    const code = new URL(data.redirectUri).searchParams.get('code');
    const exchange = { ...common, grant_type: 'authorization_code', code };
    const { access_token: bearer } = await this.#expect(200, '/oauth/token', { json: exchange });
    // Every gateway keeps the token in its cache from now on.
    for (const first of this.#client.ready) await this.#expect(200, HEART_PATH, { bearer, first });
    const end = { method: 'DELETE', bearer: session };
    await this.#expect(200, `/partner/consent/grants/${data.grantId}`, end);
    this.#acknowledged += 1;
    for (const first of this.#client.ready)
      this.#judge(await this.#client.send(HEART_PATH, { bearer, first }));
  }

  #judge({ status, text }: BalancedAnswer): void {
    this.#readsAfter += 1;
    if (status === 200) this.#stale += 1;
    else if (status !== 401) this.#failed.push(`read after a revocation: ${status} ${text.slice(0, 200)}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes, whose use fails if they differ
  async #expect(expected: number, path: string, request: BalancedRequest): Promise<any> {
    const { status, text } = await this.#client.send(path, request);
    if (status !== expected) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }
}
