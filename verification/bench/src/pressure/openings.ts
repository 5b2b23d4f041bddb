import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { startRunningStack } from '@phds/running-system/running-stack';

const SCOPE = 'read:health-data:heart';
const REQUESTS = 60;
/** The last is the number of places that an app has. */
const ADDRESSES = [1, 3, 10, 40, 50];

/** Opens requests for approval without a secret from several addresses, and says whether a person's earlier one is still there. */
export async function benchOpenings(): Promise<string> {
  const environment = { gateway: { TRUST_PROXY: '1' }, consent: { MAX_LIVE_PENDING_PER_APP: '50' } };
  await using stack = await startRunningStack({ environment });
  const developer = await signIn(stack, 'ada');
  const rows: string[] = [];
  for (const count of ADDRESSES) {
    const { clientId, redirectUri } = await registerApp(stack.gateway, developer, { requirePkce: false });
    const query = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: SCOPE };
    const open = (address: string) =>
      openFrom(address, `${stack.gateway}/oauth/authorize?${new URLSearchParams(query)}`);
    const own = await open('203.0.113.1');
    const startedAt = performance.now();
    for (let index = 0; index < REQUESTS; index += 1) await open(`198.51.${rows.length}.${index % count}`);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const session = await signIn(stack, 'ben');
    const { status } = await send(`${stack.gateway}/partner/consent/pending/${own}`, { bearer: session });
    rows.push(`| ${count} | ${seconds} | ${status} |`);
  }
  return [
    '',
    `${REQUESTS} requests without a secret`,
    '',
    "| from addresses | in s | then a person's earlier request |",
    '|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Returns the id of the pending approval. */
async function openFrom(address: string, url: string): Promise<string> {
  const answer = await fetch(url, { redirect: 'manual', headers: { 'X-Forwarded-For': address } });
  const location = answer.headers.get('location') ?? '';
  if (!location.includes('/approve/')) throw new Error(`not opened: ${answer.status} ${location}`);
  return location.slice(location.lastIndexOf('/') + 1);
}
