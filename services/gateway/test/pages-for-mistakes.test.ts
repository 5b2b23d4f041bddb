import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { unauthorized, unavailable } from '@phds/service-kit/errors';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

// What Chromium sends when a person opens an address.
const VISIT = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' };
const AUTHORIZE = '/oauth/authorize?client_id=app_1&response_type=code';

let gateway: TestGateway;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'web-'));
  await writeFile(join(directory, 'index.html'), '<div id="root">');
  gateway = await startTestGateway({ WEB_DIRECTORY: directory });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});
beforeEach(() => gateway.backends.answer({}));

const open = async (path: string, headers: Record<string, string> = VISIT, method = 'GET') => {
  const response = await gateway.fetch(path, { headers, method, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('an address that does not exist', () => {
  const UNKNOWN = [
    '/histroy',
    '/apps/grt_1/more',
    '/problems/nothing',
    '/assets/gone-1.js',
    '/approve/%zz',
    '/.env',
  ];

  test.each(UNKNOWN)('%s shows the web app to a person who opens it, with status 404', async (path) => {
    const { status, headers, text } = await open(path);
    expect([status, text]).toEqual([404, '<div id="root">']);
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/);
  });

  test.each(['/api/v1/nothing', '/api', '/oauth/nothing', '/partner/nothing', '/developer/nothing'])(
    '%s stays JSON for a browser too, because programs use it',
    async (path) => {
      const { headers, text } = await open(path);
      expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
      expect(JSON.parse(text)).toBeInstanceOf(Object);
    },
  );

  test.each<[string, Record<string, string>, string]>([
    ['without a preference', {}, 'GET'],
    ['that asks for anything, as scripts of pages do', { accept: '*/*' }, 'GET'],
    ['that asks for JSON', { accept: 'application/json' }, 'GET'],
    ['that posts a form', VISIT, 'POST'],
  ])('stays JSON for a program %s', async (_, headers, method) => {
    const answer = await open('/histroy', headers, method);
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('the language of a page', () => {
  test.each([
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['fr-CH, fr;q=0.9, de;q=0.5, en;q=0.4', 'de'],
    ['en-GB,en;q=0.9,de;q=0.1', 'en'],
    ['de;q=0, fr', 'en'],
    ['*', 'en'],
    [';;q=x,,', 'en'],
  ])('is the one that the browser prefers: %s is answered in %s', async (accepted, language) => {
    const { headers, text } = await open('/sign-in', { ...VISIT, 'accept-language': accepted });
    expect(text).toContain(`<html lang="${language}">`);
    expect(text).toContain(
      language === 'de'
        ? '<title>Die Anmeldung ist nicht eingerichtet · Ihre Gesundheitsdaten</title>'
        : '<title>Signing in is not set up · Your health data</title>',
    );
    expect(headers.get('vary')).toContain('Accept-Language');
  });

  test('is English for the pages about errors of the interfaces, which are for developers', async () => {
    const { headers, text } = await open('/problems', { ...VISIT, 'accept-language': 'de' });
    expect(text).toContain('<html lang="en">');
    expect(headers.get('vary')).not.toContain('Accept-Language');
  });
});

describe('a bad link of an app', () => {
  const openBadLink = (reason: () => never, language = 'en') => {
    gateway.backends.answer({ openAuthorization: reason });
    return open(AUTHORIZE, { ...VISIT, 'accept-language': language });
  };
  const refuse = () => {
    throw unauthorized('client');
  };

  test.each([
    ['en', 'This link does not work', 'Nothing was shared.', 'For the app’s developer'],
    ['de', 'Dieser Link funktioniert nicht', 'Es wurde nichts geteilt.', 'Für den Entwickler der App'],
  ])('is explained to the person and to the developer, in %s', async (language, title, calming, heading) => {
    const { status, text } = await openBadLink(refuse, language);
    expect(status).toBe(400);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(calming);
    expect(text).toContain(`<h2>${heading}</h2>`);
    expect(text).toContain('<code>POST /oauth/authorize</code>');
  });

  test('says in both languages that a failure of ours is worth another try', async () => {
    const fail = () => {
      throw unavailable();
    };
    const [english, german] = [await openBadLink(fail), await openBadLink(fail, 'de')];
    expect([english.status, german.status]).toEqual([503, 503]);
    expect(english.text).toContain('<h1>Please try again</h1>');
    expect(german.text).toContain('<h1>Bitte versuchen Sie es erneut</h1>');
  });
});
