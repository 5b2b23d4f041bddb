import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '@phds/local-stack/stack';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { LARGE_USER, SCOPE } from './prepare.ts';

/** A read of the large user that costs more than the newest page. */
export interface LargerRead {
  readonly name: string;
  /** As in a LoadJob. */
  readonly requestsFile: string;
}

const HEART = '/api/v1/health-data/heart';
const DAY_MS = 86_400_000;

/** Connects the large user to two apps, one of them limited by `dataFrom`, and writes a file of requests for each read. */
export async function prepareLargerReads(stack: Stack, directory: string): Promise<LargerRead[]> {
  const [gateway = ''] = stack.gatewayUrls;
  const developer = await signIn(stack, 'bench-developer');
  const person = await signIn(stack, LARGE_USER);
  const [app, limitedApp] = [
    await registerApp(gateway, developer, { name: 'Larger reads' }),
    await registerApp(gateway, developer, { name: 'Limited larger reads' }),
  ];
  const { accessToken: all } = await app.connect(person, [SCOPE]);
  const { accessToken: limited } = await limitedApp.connect(person, [SCOPE], { dataFrom: daysAgo(200) });
  const reads = [
    { name: 'page 1,000', file: 'page.txt', request: `${HEART}?page=1000 ${all}` },
    { name: 'dataFrom grant', file: 'data-from.txt', request: `${HEART} ${limited}` },
    {
      name: 'filter',
      file: 'filter.txt',
      request: `${HEART}?type=HRV&from=${daysAgo(300)}&to=${daysAgo(100)} ${all}`,
    },
  ];
  return reads.map(({ name, file, request }) => {
    const requestsFile = join(directory, file);
    writeFileSync(requestsFile, request);
    return { name, requestsFile };
  });
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}
