import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '../src/webhook.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER_SECRET = `whsec_${btoa('another secret of 32 random bytes')}`;
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const SENT_AT = new Date('2026-03-01T12:00:00Z');
const BODY = '{"type":"test","timestamp":"2026-03-01T12:00:00.000Z","data":{"text":"naïve – 心"}}';

const now = () => SENT_AT.getTime();

function sign(secret = SECRET, body = BODY) {
  return {
    'webhook-id': ID,
    'webhook-timestamp': String(SENT_AT.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign(ID, SENT_AT, body),
  };
}

describe('verifyWebhook', () => {
  test('verifyWebhook accepts the published vector of Standard Webhooks', async () => {
    const headers = {
      'webhook-id': ID,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const event = await verifyWebhook(headers, '{"test": 2432232314}', SECRET, {
      now: () => 1_614_265_330_000,
    });
    expect(event).toEqual({ test: 2_432_232_314 });
  });

  test('verifyWebhook accepts what the library of Standard Webhooks signs, as text and as bytes', async () => {
    const event = JSON.parse(BODY);
    expect(await verifyWebhook(sign(), BODY, SECRET, { now })).toEqual(event);
    expect(await verifyWebhook(new Headers(sign()), Buffer.from(BODY), SECRET, { now })).toEqual(event);
  });

  test('verifyWebhook finds its headers in any case, and in a `Headers` of another realm', async () => {
    const event = JSON.parse(BODY);
    const capitals = Object.entries(sign()).map(([name, value]) => [
      name.replaceAll(/\b\w/g, (letter) => letter.toUpperCase()),
      value,
    ]);
    expect(capitals.map(([name]) => name)).toContain('Webhook-Id');
    expect(await verifyWebhook(Object.fromEntries(capitals), BODY, SECRET, { now })).toEqual(event);
    const own = new Headers(sign());
    const foreign = { get: (name: string) => own.get(name) } as Headers;
    expect(await verifyWebhook(foreign, BODY, SECRET, { now })).toEqual(event);
  });

  test('verifyWebhook accepts either secret while one replaces the other, on both sides', async () => {
    await verifyWebhook(sign(OTHER_SECRET), BODY, [SECRET, OTHER_SECRET], { now });
    const both = `${sign(OTHER_SECRET)['webhook-signature']} ${sign()['webhook-signature']}`;
    await verifyWebhook({ ...sign(), 'webhook-signature': both }, BODY, SECRET, { now });
  });

  test.each([
    ['another secret', sign(OTHER_SECRET), BODY],
    ['another body', sign(), BODY.replace('test', 'text')],
    ['another id', { ...sign(), 'webhook-id': 'msg_x' }, BODY],
    ['another time', { ...sign(), 'webhook-timestamp': `${SENT_AT.getTime() / 1_000 + 1}` }, BODY],
    [
      'an unknown version',
      { ...sign(), 'webhook-signature': sign()['webhook-signature'].replace('v1', 'v2') },
      BODY,
    ],
    ['a signature that is not base64', { ...sign(), 'webhook-signature': 'v1,%%%' }, BODY],
    ['no signature', { ...sign(), 'webhook-signature': undefined }, BODY],
    ['a time that is not a number', { ...sign(), 'webhook-timestamp': 'soon' }, BODY],
  ])('verifyWebhook refuses %s', async (_, headers, body) => {
    await expect(verifyWebhook(headers, body, SECRET, { now })).rejects.toMatchObject({
      code: 'WEBHOOK_REFUSED',
    });
  });

  test('verifyWebhook refuses a webhook that is more than five minutes old or early', async () => {
    for (const seconds of [-301, 301]) {
      const late = () => now() + seconds * 1_000;
      await expect(verifyWebhook(sign(), BODY, SECRET, { now: late })).rejects.toMatchObject({
        code: 'WEBHOOK_REFUSED',
      });
      await verifyWebhook(sign(), BODY, SECRET, { now: late, toleranceSeconds: 600 });
    }
  });

  test.each([[JSON.parse(BODY)], [{}], [null], [undefined]])(
    'verifyWebhook asks for the raw body in place of %j',
    async (body) => {
      await expect(verifyWebhook(sign(), body, SECRET, { now })).rejects.toThrow(/^Pass the raw body/);
    },
  );

  test('verifyWebhook names a secret that is none', async () => {
    await expect(verifyWebhook(sign(), BODY, 'whsec_%', { now })).rejects.toThrow(TypeError);
  });
});
