import { giveFirstReadings } from './ingestion.ts';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from './partner-app.ts';
import { signIn } from './people.ts';
import { type Answer, type RequestOptions, send } from './request.ts';
import { HEART, PROFILE } from './revocation-ways.ts';
import type { RunningStack } from './running-stack.ts';

export const HEART_PATH = '/api/v1/health-data/heart';

/**
 * Maximum wait for any response during an outage. Milliseconds. The deadlines of a test's stack, five times the usual ones, add
 * up to about 25 seconds; the rest is a margin for a busy machine.
 */
export const ANSWER_LIMIT_MS = 60_000;

/** A person, their app, and the tokens of the consent between them. */
export interface ConnectedPerson {
  readonly app: PartnerApp;
  readonly session: string;
  tokens: Tokens;
}

/** Creates a person with one heart rate and connects an app of theirs. */
export async function connectPerson(stack: RunningStack, user: string): Promise<ConnectedPerson> {
  const session = await signIn(stack, user);
  await giveFirstReadings(stack, [user]);
  const app = await registerApp(stack.gateway, session);
  return { app, session, tokens: await app.connect(session, [HEART, PROFILE]) };
}

/**
 * Uses every service: the existing tokens still read and refresh, and a new consent can be given, used and revoked. Throws when
 * anything fails.
 */
export async function useEverything({ app, session, tokens }: ConnectedPerson): Promise<void> {
  const read = expectStatus(200, await app.read(tokens.accessToken, HEART_PATH));
  if (read.body.data.length !== 1) throw new Error(`not the one reading: ${read.text}`);
  const fresh = await app.connect(session, [HEART]);
  expectStatus(200, await app.read(fresh.accessToken, HEART_PATH));
  expectStatus(200, await app.refresh(fresh.refreshToken));
  expectStatus(200, await app.revoke(fresh.accessToken));
  expectStatus(401, await app.read(fresh.accessToken, HEART_PATH));
}

/** Sends a request that must be answered within the limit even during outages. Rejects when it is not. */
export async function sendWithLimit(url: string, options: RequestOptions = {}): Promise<Answer> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer in time: ${url}`)), ANSWER_LIMIT_MS);
  try {
    return await Promise.race([send(url, options), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
