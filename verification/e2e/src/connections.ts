import { expect } from '@jest/globals';
import { type Approval, expectStatus, type PartnerApp, type Tokens } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import type { Visitor } from '@phds/running-system/visitor';
import { findSmallTargets } from './page-checks.ts';

export const PURPOSE = 'Your heart rate shows how hard you train.';

/** An app that people connect and disconnect, through the interface that their pages use. */
export class Connections {
  readonly #app: PartnerApp;

  constructor(app: PartnerApp) {
    this.#app = app;
  }

  /** Connects a person who was shown `PURPOSE`. */
  async connect(session: string, scopes: readonly string[], approval: Approval = {}): Promise<Tokens> {
    return this.#app.finish(await this.#app.ask(session, { scopes, purpose: PURPOSE }, approval));
  }

  /** The grant as its person sees it. */
  async look(session: string, tokens: Tokens) {
    return expectStatus(200, await send(this.#url(tokens), { bearer: session })).body.data;
  }

  async narrow(session: string, tokens: Tokens, json: unknown): Promise<void> {
    expectStatus(200, await send(this.#url(tokens), { method: 'PATCH', bearer: session, json }));
  }

  async stop(session: string, tokens: Tokens): Promise<void> {
    expectStatus(200, await send(this.#url(tokens), { method: 'DELETE', bearer: session }));
  }

  async readHeart({ accessToken }: Tokens): Promise<void> {
    expectStatus(200, await this.#app.read(accessToken, '/api/v1/health-data/heart'));
  }

  #url({ grantId }: Tokens): string {
    return `${this.#app.gateway}/partner/consent/grants/${grantId}`;
  }
}

/** The page has no barriers, and on the narrowest phone it fits in each language, also with text at twice the size. */
export async function expectToFit(visitor: Visitor): Promise<void> {
  expect(await visitor.findBarriers()).toEqual([]);
  await visitor.lookAs('narrow');
  for (const language of ['de', 'en'] as const) {
    await visitor.speak(language);
    expect([await visitor.findOverflow(), await visitor.findOverflow(2)]).toEqual([[], []]);
    expect(await findSmallTargets(visitor.page)).toEqual([]);
  }
  expect(await visitor.findBarriers()).toEqual([]);
  await visitor.lookAs('desktop');
}
