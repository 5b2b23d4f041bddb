import { type Answer, send } from '@phds/running-system/request';

/** Sends the sign-out of a page of this gateway. */
export function signOut(gateway: string, session: string): Promise<Answer> {
  const headers = { Cookie: `session=${session}`, 'Sec-Fetch-Site': 'same-origin' };
  return send(`${gateway}/sign-out`, { method: 'POST', headers });
}

/** The status of a list that needs a session. */
export async function statusWith(gateway: string, session: string): Promise<number> {
  return (await send(`${gateway}/partner/consent/grants`, { bearer: session })).status;
}
