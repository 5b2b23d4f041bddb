import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, REDIRECT_URI, registerApp } from '@phds/e2e/partner-app';
import { signIn } from '@phds/e2e/people';
import { send } from '@phds/e2e/request';
import { type RunningStack, startRunningStack } from '@phds/e2e/running-stack';
import { decodeJwt } from 'jose';

const HEART = 'read:health-data:heart';

let stack: RunningStack;
let developer: string;

beforeAll(async () => {
  stack = await startRunningStack();
  developer = await signIn(stack, 'developer');
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

let people = 0;
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `person-${people}`);
}

const get = async (bearer: string, path: string) =>
  expectStatus(200, await send(`${stack.gateway}/partner/consent${path}`, { bearer })).body;

/** Approves everything; answers the id of the grant. */
async function approve(bearer: string, pendingId: string): Promise<string> {
  const url = `${stack.gateway}/partner/consent/pending/${pendingId}/approve`;
  return expectStatus(200, await send(url, { bearer, json: {} })).body.data.grantId;
}

interface Receipt {
  readonly purposes: readonly Record<string, unknown>[];
}

async function receiptOf(user: string, grantId: string): Promise<Receipt> {
  return decodeJwt<Receipt>((await get(user, `/grants/${grantId}/receipt`)).data.receipt);
}

describe('the purpose of a request', () => {
  /** What anybody can send who knows the client id; answers the id of the pending approval. */
  async function askWithoutSecret(method: string, parameters: Record<string, string>): Promise<string> {
    const url = `${stack.gateway}/oauth/authorize`;
    if (method === 'POST') return expectStatus(201, await send(url, { json: parameters })).body.pending_id;
    const answer = expectStatus(303, await send(`${url}?${new URLSearchParams(parameters)}`));
    return answer.headers.get('location')?.split('/').at(-1) ?? '';
  }

  test.each(['GET', 'POST'])(
    'is neither shown nor put on the receipt when %s /oauth/authorize came without the secret',
    async (method) => {
      const [app, user] = [await registerApp(stack.gateway, developer), await somebody()];
      const parameters = {
        client_id: app.clientId,
        redirect_uri: REDIRECT_URI,
        scope: HEART,
        purpose: 'Required by your doctor',
      };
      const id = await askWithoutSecret(method, parameters);
      const { data } = await get(user, `/pending/${id}`);
      expect(data).toMatchObject({ clientAuthenticated: false, purpose: null });
      const receipt = await receiptOf(user, await approve(user, id));
      expect(receipt.purposes).toMatchObject([{ purpose: null }]);
    },
  );

  test('is shown and put on the receipt when the app authenticated', async () => {
    const [app, user] = [await registerApp(stack.gateway, developer), await somebody()];
    const purpose = 'To find patterns';
    const { pending_id: id } = expectStatus(201, await app.authorize([HEART], { purpose })).body;
    expect((await get(user, `/pending/${id}`)).data).toMatchObject({ clientAuthenticated: true, purpose });
    const receipt = await receiptOf(user, await approve(user, id));
    expect(receipt.purposes).toMatchObject([{ purpose }]);
  });
});
