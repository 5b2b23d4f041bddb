import { join } from 'node:path';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import { type Stack, startStack } from '@phds/dev-stack/stack';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { fillPeople, type Person, toPeople } from './flat-people.ts';
import { DATA_FROM, type FlatQuery, QUERIES } from './flat-queries.ts';
import { summarize } from './latencies.ts';
import type { Options } from './options.ts';
import { read } from './read.ts';

/** A user and what an app may read about them. */
interface Subject extends Person {
  readonly token: string;
  /** Token limited to some of the years. */
  readonly limitedToken: string;
}

/** The result of a query: median milliseconds by user, and the number of failed requests. */
interface Result {
  readonly query: FlatQuery;
  readonly medians: readonly number[];
  readonly failures: number;
}

/** Maximum for every ratio. */
const AIM = 1.5;
const WARM_UPS = 20;

/** Compares every read for users with a thousand, a hundred thousand and ten million readings, one request at a time in turn. */
export async function benchFlat(options: Options): Promise<string> {
  const people = toPeople(options.largest);
  await using stack = await startStack({
    dataDirectory: join(defaultDataDirectory, 'bench-flat'),
    ports: { random: true, gateways: 1 },
    fresh: options.fresh,
    seed: false,
    say: console.log,
  });
  await fillPeople(stack, people, console.log);
  const [gateway = ''] = stack.gatewayUrls;
  const session = await signIn(stack, 'bench-developer');
  const app = await registerApp(gateway, session, { name: 'Benchmark' });
  const limitedApp = await registerApp(gateway, session, { name: 'Limited benchmark' });
  const subjects: Subject[] = [];
  for (const person of people) subjects.push(await connect(stack, person, app, limitedApp));
  const results: Result[] = [];
  for (const query of QUERIES) results.push(await measure(gateway, app, query, subjects, options.seconds));
  return report(results, people, options);
}

async function connect(
  stack: Stack,
  person: Person,
  app: PartnerApp,
  limitedApp: PartnerApp,
): Promise<Subject> {
  const session = await signIn(stack, person.user);
  const { accessToken: token } = await app.connect(session, SCOPE_NAMES);
  const limited = await limitedApp.connect(session, SCOPE_NAMES, { dataFrom: DATA_FROM });
  return { ...person, token, limitedToken: limited.accessToken };
}

async function measure(
  gateway: string,
  app: PartnerApp,
  query: FlatQuery,
  subjects: readonly Subject[],
  seconds: number,
): Promise<Result> {
  const requests = await Promise.all(subjects.map((subject) => toRequest(app, query, subject)));
  const milliseconds: number[][] = requests.map(() => []);
  let failures = 0;
  const readAll = async (keep: boolean) => {
    for (const [index, { path, token }] of requests.entries()) {
      const start = performance.now();
      const status = await read(gateway + path, token);
      if (keep) milliseconds[index]?.push(performance.now() - start);
      if (status !== 200) failures += 1;
    }
  };
  for (let turn = 0; turn < WARM_UPS; turn += 1) await readAll(false);
  const end = performance.now() + seconds * 1_000;
  while (performance.now() < end) await readAll(true);
  console.log(`measured ${query.name}, ${query.page} page`);
  return { query, medians: milliseconds.map((values) => summarize(values).p50), failures };
}

/** The last page depends on the user. */
async function toRequest(app: PartnerApp, { path, page, limited }: FlatQuery, subject: Subject) {
  const token = limited ? subject.limitedToken : subject.token;
  if (page === 'first') return { path: path.slice(0, -1), token };
  const { body } = expectStatus(200, await app.read(token, path.slice(0, -1)));
  const { totalPages } = body.pagination;
  return { path: `${path}page=${page === 'last' ? totalPages : Math.ceil(totalPages / 2)}`, token };
}

function report(results: readonly Result[], people: readonly Person[], { seconds }: Options): string {
  const failures = results.reduce((sum, result) => sum + result.failures, 0);
  const worst = Math.max(...results.flatMap(({ medians }) => toRatios(medians)));
  const sizes = people.map(({ readings }) => readings.toLocaleString('en'));
  return [
    '',
    `median ms by number of readings, ${seconds} s for each query, one request at a time`,
    '',
    `| query | page | ${sizes.join(' | ')} | ratios to the first |`,
    `|---|---|${sizes.map(() => '---').join('|')}|---|`,
    ...results.map(toRow),
    '',
    `largest ratio ${worst.toFixed(2)}, the aim is at most ${AIM}`,
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function toRow({ query, medians }: Result): string {
  const ratios = toRatios(medians).map((ratio) => ratio.toFixed(2));
  const cells = medians.map((median) => median.toFixed(2)).join(' | ');
  return `| ${query.name} | ${query.page} | ${cells} | ${ratios.join(', ')} |`;
}

function toRatios([first = Number.NaN, ...others]: readonly number[]): number[] {
  return others.map((median) => median / first);
}
