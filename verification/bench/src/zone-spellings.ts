import { writeFileSync } from 'node:fs';
import type { Stack } from '@phds/dev-stack/stack';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';

const SCOPE = 'read:aggregations';

/**
 * Connects one person to several apps and writes requests for aggregations (`path token` lines), each with a different spelling of
 * a zone.
 */
export async function writeSpellings(
  stack: Stack,
  { user, apps, requests, file }: { user: string; apps: number; requests: number; file: string },
): Promise<void> {
  const [gateway = ''] = stack.gatewayUrls;
  const [developer, person] = [await signIn(stack, 'zones-developer'), await signIn(stack, user)];
  const tokens: string[] = [];
  for (let n = 1; n <= apps; n += 1) {
    const app = await registerApp(gateway, developer, { name: `Zones ${n}` });
    tokens.push((await app.connect(person, [SCOPE])).accessToken);
  }
  const zones = Intl.supportedValuesOf('timeZone');
  const lines = Array.from({ length: requests }, (_, n) => {
    const zone = zones[Math.floor(Math.random() * zones.length)] ?? 'UTC';
    return `/api/v1/aggregations?timeZone=${encodeURIComponent(spell(zone))} ${tokens[n % apps]}`;
  });
  writeFileSync(file, `${lines.join('\n')}\n`);
}

function spell(zone: string): string {
  return [...zone]
    .map((letter) => (Math.random() < 0.5 ? letter.toUpperCase() : letter.toLowerCase()))
    .join('');
}
