/** Registers an app as the developer of the local stack. Elsewhere you do this once, in the developer console. */
export async function registerAtLocalStack(gateway: string, redirectUri: string, applicationType: string) {
  const { IDENTITY_PROVIDER_URL = 'http://localhost:8090' } = process.env;
  const { token } = await post<{ token: string }>(`${IDENTITY_PROVIDER_URL}/sessions`, { user: 'developer' });
  const access = { redirectUris: [redirectUri], scopes: ['read:health-data:heart'] };
  const app = { name: 'Heart chart', applicationType, ...access };
  type Registered = { data: { clientId: string; clientSecret: string } };
  return (await post<Registered>(`${gateway}/developer/apps`, app, token)).data;
}

async function post<Answer>(url: string, body: unknown, bearer = ''): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${bearer}` };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }).catch((cause) => {
    throw new Error(`Nothing answers at ${url}. Start the service with \`npm start\` first.`, { cause });
  });
  if (answer.ok) return answer.json() as Promise<Answer>;
  throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
}
