import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { decodeJwt } from 'jose';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const DIARY = {
  name: 'Diabetes Diary',
  description: 'Keeps a diary of your glucose.',
  developerName: 'Diary GmbH',
  homepageUrl: 'https://diary.example/',
  privacyPolicyUrl: 'https://diary.example/privacy',
};
const BROKER = {
  name: 'Data Broker',
  description: 'Finds buyers for your data.',
  developerName: 'Broker Ltd',
  homepageUrl: 'https://broker.example/',
  privacyPolicyUrl: 'https://broker.example/terms',
};
/** The party named on a receipt. */
const partyOf = ({ name, description, developerName, homepageUrl, privacyPolicyUrl }: typeof DIARY) => ({
  party_name: name,
  party_developer: developerName,
  party_description: description,
  party_url: homepageUrl,
  privacy_notice: privacyPolicyUrl,
});

let stack: SharedStack;
let developer: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
});

let people = 0;
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `partner-receipts-${people}`);
}

const registerDiary = () => registerApp(stack.gateway, developer, DIARY);

async function change(app: PartnerApp, profile: Partial<typeof DIARY>): Promise<void> {
  const url = `${stack.gateway}/developer/apps/${app.clientId}`;
  expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json: profile }));
}

const get = async (bearer: string, path: string) =>
  expectStatus(200, await send(`${stack.gateway}/partner/consent${path}`, { bearer })).body;

/** Approves everything and returns the id of the grant. */
async function approve(bearer: string, pendingId: string): Promise<string> {
  const url = `${stack.gateway}/partner/consent/pending/${pendingId}/approve`;
  return expectStatus(200, await send(url, { bearer, json: {} })).body.data.grantId;
}

interface Receipt {
  readonly privacy_notice: string;
  readonly party_identification: readonly Record<string, unknown>[];
  readonly purposes: readonly Record<string, unknown>[];
}

async function receiptOf(user: string, grantId: string): Promise<Receipt> {
  return decodeJwt<Receipt>((await get(user, `/grants/${grantId}/receipt`)).data.receipt);
}

describe('the purpose of a request', () => {
  /** Sends a request that needs only the client id, and returns the id of the pending approval. */
  async function askWithoutSecret(method: string, parameters: Record<string, string>): Promise<string> {
    const url = `${stack.gateway}/oauth/authorize`;
    if (method === 'POST') return expectStatus(201, await send(url, { json: parameters })).body.pending_id;
    const answer = expectStatus(303, await send(`${url}?${new URLSearchParams(parameters)}`));
    return answer.headers.get('location')?.split('/').at(-1) ?? '';
  }

  test.each(['GET', 'POST'])(
    'is neither shown nor put on the receipt when %s /oauth/authorize was sent without the secret',
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
    const grantId = await approve(user, id);
    expect((await receiptOf(user, grantId)).purposes).toMatchObject([{ purpose }]);
    expect((await get(user, `/grants/${grantId}`)).data.purpose).toBe(purpose);
  });
});

describe('an app that changes its name and links after a consent', () => {
  test('is named on the signed receipt as the person saw it', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { grantId } = await app.connect(user, [HEART]);
    const before = await receiptOf(user, grantId);
    await change(app, BROKER);
    const after = await receiptOf(user, grantId);
    const party = {
      party_id: app.clientId,
      party_role: 'recipient',
      party_name: DIARY.name,
      party_developer: DIARY.developerName,
      party_description: DIARY.description,
      party_url: DIARY.homepageUrl,
    };
    expect(after.party_identification).toEqual([party]);
    expect(after.privacy_notice).toBe(DIARY.privacyPolicyUrl);
    expect(after.purposes).toMatchObject([
      { recipient: { ...partyOf(DIARY), redirect_host: 'localhost:9999', as_shown: true } },
    ]);
    expect({ ...after, iat: 0 }).toEqual({ ...before, iat: 0 });
  });

  test('has on the receipt, for each decision, the name shown at that decision', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { grantId } = await app.connect(user, [HEART]);
    await change(app, BROKER);
    expect((await app.connect(user, [MOOD])).grantId).toBe(grantId);
    const receipt = await receiptOf(user, grantId);
    expect(receipt.purposes).toMatchObject([{ recipient: partyOf(DIARY) }, { recipient: partyOf(BROKER) }]);
    expect(receipt.party_identification).toMatchObject([{ party_name: BROKER.name }]);
    expect((await get(user, `/grants/${grantId}`)).data.app.name).toBe(BROKER.name);
  });

  test('is shown to the person with both names, and with each change and its time', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { grantId } = await app.connect(user, [HEART]);
    const unchanged = (await get(user, `/grants/${grantId}`)).data;
    expect(Object.keys(unchanged)).not.toContain('appChanges');
    await change(app, BROKER);
    await change(app, { name: 'Fitness Friend' });
    const { data } = await get(user, `/grants/${grantId}`);
    const at = expect.stringMatching(INSTANT);
    expect(data.app).toEqual({
      clientId: app.clientId,
      ...DIARY,
      logoUrl: null,
      redirectHost: 'localhost:9999',
      currentName: 'Fitness Friend',
    });
    expect(data.appChanges).toEqual([
      { field: 'name', from: DIARY.name, to: BROKER.name, at },
      { field: 'description', from: DIARY.description, to: BROKER.description, at },
      { field: 'developerName', from: DIARY.developerName, to: BROKER.developerName, at },
      { field: 'homepageUrl', from: DIARY.homepageUrl, to: BROKER.homepageUrl, at },
      { field: 'privacyPolicyUrl', from: DIARY.privacyPolicyUrl, to: BROKER.privacyPolicyUrl, at },
      { field: 'name', from: BROKER.name, to: 'Fitness Friend', at },
    ]);
    // A list contains only the latest change of each field.
    expect((await get(user, '/grants')).data).toEqual([{ ...data, appChanges: data.appChanges.slice(1) }]);
  });

  test('appears in the access history, by day and in the file, under the approved name', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { accessToken } = await app.connect(user, [HEART]);
    await app.read(accessToken, '/api/v1/health-data/heart');
    const { clientId } = app;
    const shown = async () => [
      (await get(user, '/accesses')).data[0].app,
      (await get(user, '/accesses/summary')).data[0].app,
    ];
    expect(await shown()).toEqual(Array(2).fill({ clientId, name: DIARY.name }));
    await change(app, BROKER);
    const both = { clientId, name: DIARY.name, currentName: BROKER.name };
    expect(await shown()).toEqual(Array(2).fill(both));
    const { text } = await send(`${stack.gateway}/partner/consent/accesses.csv`, { bearer: user });
    expect(text).toContain(`,${DIARY.name},`);
    expect(text).not.toContain(BROKER.name);
  });
});

describe('an app that changes its name while a person reads the approval screen', () => {
  test('keeps its earlier name on the screen, the grant and the receipt', async () => {
    const [app, user] = [await registerDiary(), await somebody()];
    const { pending_id: id } = expectStatus(201, await app.authorize([HEART])).body;
    const opened = (await get(user, `/pending/${id}`)).data;
    await change(app, BROKER);
    expect((await get(user, `/pending/${id}`)).data).toEqual(opened);
    expect((await get(user, '/pending')).data).toEqual([opened]);
    const grantId = await approve(user, id);
    const receipt = await receiptOf(user, grantId);
    expect(receipt.purposes).toMatchObject([{ recipient: partyOf(DIARY) }]);
    expect(receipt.party_identification).toMatchObject([{ party_name: DIARY.name }]);
    const { data } = await get(user, `/grants/${grantId}`);
    expect(data.app).toMatchObject({ name: DIARY.name, currentName: BROKER.name });
    expect(data.appChanges).toHaveLength(5);
  });
});
