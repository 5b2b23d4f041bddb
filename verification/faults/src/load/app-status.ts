import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';

/** Sets an app's status as its developer through this gateway. Throws unless acknowledged. */
export async function setStatus(
  gateway: string,
  { clientId }: PartnerApp,
  session: string,
  status: 'active' | 'suspended' | 'revoked',
): Promise<void> {
  const url = `${gateway}/developer/apps/${clientId}/status`;
  expectStatus(200, await send(url, { bearer: session, json: { status } }));
}
