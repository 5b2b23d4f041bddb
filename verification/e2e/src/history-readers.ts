import type { PartnerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { dayOfBrowser } from './day-texts.ts';

/**
 * Signs in a person whose data the app read on one day: heart that many times, and mood once.
 * When midnight passed during the reads, another person takes that person's place. Returns the session.
 */
export async function signInReader(
  stack: Parameters<typeof signIn>[0],
  app: PartnerApp,
  reader: { readonly user: string; readonly heartReads: number },
): Promise<string> {
  const { user, heartReads } = reader;
  const session = await signIn(stack, user);
  const { accessToken } = await app.connect(session, ['read:health-data:heart', 'read:mood']);
  const day = dayOfBrowser(Date.now());
  for (let times = 0; times < heartReads; times += 1) {
    await app.read(accessToken, '/api/v1/health-data/heart');
  }
  await app.read(accessToken, '/api/v1/mood');
  if (dayOfBrowser(Date.now()) === day) return session;
  return signInReader(stack, app, { ...reader, user: `${user}-again` });
}
