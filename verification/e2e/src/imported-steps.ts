import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import type { SharedStack } from '@phds/running-system/shared-stack';

const MINUTE_MS = 60_000;
const BEGIN = Date.UTC(2024, 0, 1);

/** Writes steps for this many minutes, alternating between two devices, with an occasional implausible value. */
export async function writeSteps(directory: string, name: string, minutes: number): Promise<string> {
  const lines = ['type,start,end,value,unit,source'];
  for (let minute = 0; minute < minutes; minute += 1) {
    const [start, end] = [minute, minute + 1].map((n) => new Date(BEGIN + n * MINUTE_MS).toISOString());
    const value = minute % 1000 === 999 ? 1_000_000 : minute % 90;
    lines.push(`Steps,${start},${end},${value},count,${minute % 2 === 0 ? 'iphone' : 'apple-watch'}`);
  }
  const path = join(directory, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

const SCOPES = ['read:health-data:activity', 'read:trends'];
const PATHS = ['health-data/activity', 'trends?type=steps&bucket=day'];

/** What partners read about a person's activity: the newest readings and daily totals. */
export async function readActivity(stack: SharedStack, user: string): Promise<Answer['body'][]> {
  const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const { accessToken } = await app.connect(await signIn(stack, user), SCOPES);
  const answers = await Promise.all(PATHS.map((path) => app.read(accessToken, `/api/v1/${path}`)));
  // Ids differ between people.
  const withoutIds = (text: string) => JSON.parse(text, (name, value) => (name === 'id' ? null : value));
  return answers.map((answer) => withoutIds(expectStatus(200, answer).text));
}
