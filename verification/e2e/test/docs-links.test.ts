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
const waiting = ['/docs/'];
for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
  if (found.has(path)) continue;
  const page = await readPage(path);
  found.set(path, page);
  waiting.push(...page.links.map((link) => link.split('#')[0] ?? '').filter(isDocumentation));
}

test('the overview leads to all pages', () => {
  expect([...found.keys()]).toEqual(
    expect.arrayContaining(['/docs/tokens', '/docs/problems', '/docs/problems/rate-limited']),
  );
  expect(found.size).toBeGreaterThan(30);
});

test('every link within the documentation leads to a page and an anchor that exist', () => {
  const dead = listLinks().filter(({ path, anchor }) => {
    const target = found.get(path);
    return target !== undefined && path !== '/docs/reference' && anchor !== '' && !target.anchors.has(anchor);
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

test('a link into the reference names an operation or a group of the OpenAPI document', async () => {
  const { paths } = (await send(`${gateway}/openapi.json`)).body;
  const operations = Object.values(paths as Record<string, Record<string, unknown>>).flatMap((path) =>
    Object.values(path).flatMap((operation) => {
      const { operationId, tags: [tag = ''] = [] } = operation as { operationId?: string; tags?: string[] };
      return [`tag/${tag.toLowerCase()}`, `tag/${tag.toLowerCase()}/${operationId}`];
    }),
  );
  const anchors = listLinks().filter(({ path, anchor }) => path === '/docs/reference' && anchor !== '');
  expect(anchors.length).toBeGreaterThan(2);
  expect(anchors.filter(({ anchor }) => !operations.includes(anchor))).toEqual([]);
});

test('llms.txt lists the guides as Markdown, and every link of their Markdown leads to something', async () => {
  const listed = listMarkdown((await send(`${gateway}/docs/llms.txt`)).text);
  expect(listed.length).toBeGreaterThan(10);
  const linked = new Set<string>();
  for (const path of listed) {
    const { status, headers, text } = await send(gateway + path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/markdown; charset=utf-8']);
    for (const link of listMarkdown(text)) linked.add(link);
  }
  const answers = await Promise.all(
    [...linked].map(async (path) => ({ path, status: (await send(gateway + path)).status })),
  );
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
});

/** The paths of this service to which Markdown links. */
function listMarkdown(markdown: string): string[] {
  return [...markdown.matchAll(/\]\((\/docs\/[^)#]+\.md)/g)].map(([, path]) => path ?? '');
}

async function readPage(path: string): Promise<FoundPage> {
  const { status, text } = await send(gateway + path);
  if (status !== 200) throw new Error(`${path}: status ${status}`);
  const anchors = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id ?? ''));
  const links = [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link]) => link ?? '');
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
  return /^\/docs\/(problems\/)?[\w-]*$/.test(path);
}
