import { expect, test } from '@jest/globals';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';

interface FoundPage {
  readonly anchors: ReadonlySet<string>;
  readonly links: readonly string[];
}

/** Every page of the documentation that can be reached from its overview, by path. */
const found = new Map<string, FoundPage>();

const { gateway } = await useSharedStack();
const waiting = ['/docs'];
for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
  if (found.has(path)) continue;
  const page = await readPage(path);
  found.set(path, page);
  waiting.push(...page.links.map((link) => link.split('#')[0] ?? '').filter(isDocumentation));
}

test('the overview leads to all pages', () => {
  expect([...found.keys()]).toEqual(
    expect.arrayContaining(['/docs/tokens', '/problems', '/problems/rate-limited']),
  );
  expect(found.size).toBeGreaterThan(30);
});

test('every link within the documentation leads to a page and an anchor that exist', () => {
  const dead = listLinks().filter(({ path, anchor }) => {
    const target = found.get(path);
    return target !== undefined && anchor !== '' && !target.anchors.has(anchor);
  });
  expect(dead).toEqual([]);
});

test('every link to another path of the service leads to something', async () => {
  const others = new Set(
    listLinks()
      .map(({ path }) => path)
      .filter((path) => !found.has(path)),
  );
  expect(others).toContain('/openapi.json');
  const answers = await Promise.all(
    [...others].map(async (path) => ({ path, status: (await send(gateway + path)).status })),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

test('each page is there as Markdown, and llms.txt lists those of the guides', async () => {
  const index = (await send(`${gateway}/llms.txt`)).text;
  const listed = [...index.matchAll(/\]\((\/[^)]+\.md)\)/g)].map(([, path]) => path ?? '');
  const sources = [...found.values()].flatMap(({ links }) => links.filter((link) => link.endsWith('.md')));
  expect(listed.length).toBeGreaterThan(10);
  expect(sources).toEqual(expect.arrayContaining(listed));
  for (const path of new Set([...listed, ...sources])) {
    const { status, headers } = await send(gateway + path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8']);
  }
});

test('every relative link of a Markdown page leads to something', async () => {
  const sources = new Set(
    [...found.values()].flatMap(({ links }) => links.filter((link) => link.endsWith('.md'))),
  );
  const links = new Set<string>();
  for (const source of sources) {
    const { text } = await send(gateway + source);
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
      links.add(new URL(link, gateway + source).pathname);
    }
  }
  const answers = await Promise.all(
    [...links].map(async (path) => ({ path, status: (await send(gateway + path)).status })),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

async function readPage(path: string): Promise<FoundPage> {
  const { status, text } = await send(gateway + path);
  if (status !== 200) throw new Error(`${path}: status ${status}`);
  const anchors = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? ''));
  const links = [...text.matchAll(/ (?:href|src|data-index)="([^"]+)"/g)].map(([, link]) => link ?? '');
  return { anchors, links };
}

/** All links to this service, with where they are. */
function listLinks(): { from: string; path: string; anchor: string }[] {
  return [...found].flatMap(([from, { links }]) =>
    links
      .map((link) => new URL(link, gateway + from))
      .filter(({ origin }) => origin === gateway)
      .map(({ pathname, hash }) => ({ from, path: pathname, anchor: hash.slice(1) })),
  );
}

function isDocumentation(path: string): boolean {
  return /^\/(docs|problems)(\/[\w-]+)?$/.test(path);
}
