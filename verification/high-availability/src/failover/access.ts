import { giveFirstReadings } from '@phds/running-system/first-reading';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { HEART } from '@phds/running-system/revocation-ways';
import type { RunningStack } from '@phds/running-system/running-stack';
import { HEART_PATH } from '@phds/running-system/working-system';

/** One person's consent, and how far its revocation got. */
export interface Access {
  readonly session: string;
  readonly tokens: Tokens;
  /** When the revocation was first requested; null before. Milliseconds of the monotonic clock, as below. */
  askedAt: number | null;
  /** When the revocation was acknowledged; null before. */
  acknowledgedAt: number | null;
}

/** What reads of one access at one gateway returned. `none` is a broken connection or no answer in time. */
export type ReadResult = number | 'none';

const PARALLEL = 8;

/** The app of all these people, and their accesses. */
export interface Consents {
  readonly app: PartnerApp;
  readonly accesses: readonly Access[];
}

/** Creates people with one reading each and connects them with one app. */
export async function connectPeople(stack: RunningStack, label: string, people: number): Promise<Consents> {
  const app = await registerApp(stack.gateway, await signIn(stack, `developer-${label}`));
  const users = Array.from({ length: people }, (_, index) => `${label}-${index + 1}`);
  const accesses: Access[] = [];
  const waiting = users.values();
  const connectNext = async () => {
    for (const user of waiting) {
      await giveFirstReadings(stack, [user]);
      const session = await signIn(stack, user);
      const tokens = await app.connect(session, [HEART]);
      const read = expectStatus(200, await app.read(tokens.accessToken, HEART_PATH));
      if (read.body.data.length !== 1) throw new Error(`not the one reading: ${read.text}`);
      accesses.push({ session, tokens, askedAt: null, acknowledgedAt: null });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, connectNext));
  return { app, accesses };
}

/** Reads at a gateway. Never throws. */
export async function readAt(app: PartnerApp, { tokens }: Access, gateway: string): Promise<ReadResult> {
  try {
    const { status, body } = await app.at(gateway).read(tokens.accessToken, HEART_PATH);
    if (status !== 200 && Array.isArray(body?.data)) throw new Error(`data with status ${status}`);
    return status;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('data with')) throw error;
    return 'none';
  }
}
