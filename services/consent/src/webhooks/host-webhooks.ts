import { readFileSync } from 'node:fs';
import { z } from 'zod';

const MOST = 5;
/** Bytes of a secret of Standard Webhooks. */
const [SHORTEST, LONGEST] = [24, 64];
const PREFIX = 'host:';

/** An endpoint of the deployment itself. */
export interface HostWebhook {
  /** `host:NAME`. */
  readonly id: string;
  readonly url: string;
  readonly secret: Uint8Array;
}

/** Whether an endpoint is one of the deployment. */
export function isHostId(endpointId: string): boolean {
  return endpointId.startsWith(PREFIX);
}

const entrySchema = z.strictObject({
  name: z
    .string('must be set')
    .regex(/^[a-z0-9-]{1,32}$/, 'must have 1 to 32 lower case letters, digits and hyphens'),
  url: z
    .string('must be set')
    .refine(isHttpUrl, 'must be an http or https URL without user name, password and fragment'),
  secretFile: z.string('must be set'),
});

/** The setting HOST_WEBHOOKS. Reads the files of the secrets. An issue names the entry. */
export function hostWebhooks() {
  return z
    .string()
    .default('[]')
    .transform((text, context) => {
      const problems: string[] = [];
      const endpoints = parse(text, problems);
      for (const message of problems) context.addIssue({ code: 'custom', message });
      return endpoints;
    })
    .meta({
      unit: `JSON: a list of at most ${MOST} entries like \`{"name": "billing", "url": "https://…", "secretFile": "/path"}\``,
      fallback: 'none',
    });
}

function parse(text: string, problems: string[]): HostWebhook[] {
  const entries = parseList(text);
  if (entries === null) {
    problems.push('must be a JSON list of entries with name, url and secretFile');
    return [];
  }
  if (entries.length > MOST) problems.push(`has ${entries.length} entries, at most ${MOST} are allowed`);
  const endpoints = entries.flatMap((entry, index) => {
    const result = entrySchema.safeParse(entry);
    const refuse = (message: string) => {
      problems.push(`entry ${index + 1}${nameOf(entry)}: ${message}`);
      return [];
    };
    if (!result.success) {
      return refuse(result.error.issues.map(({ path, message }) => [...path, message].join(' ')).join('; '));
    }
    const { name, url, secretFile } = result.data;
    const secret = readSecret(secretFile);
    return typeof secret === 'string'
      ? refuse(`secretFile ${secret}`)
      : [{ id: `${PREFIX}${name}`, url: new URL(url).href, secret }];
  });
  const names = endpoints.map(({ id }) => id);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) problems.push(`has two entries with the name ${repeated.slice(PREFIX.length)}`);
  return endpoints;
}

function parseList(text: string): readonly unknown[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}

function nameOf(entry: unknown): string {
  const name = (entry as { readonly name?: unknown } | null)?.name;
  return typeof name === 'string' ? ` (${name.slice(0, 32)})` : '';
}

/** The secret in a file; a text says why it is none. */
function readSecret(file: string): Uint8Array | string {
  try {
    const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(readFileSync(file, 'utf8').trim()) ?? [];
    const secret = Buffer.from(encoded ?? '', 'base64');
    if (secret.length >= SHORTEST && secret.length <= LONGEST) return secret;
    return `must contain whsec_ and the base64 of ${SHORTEST} to ${LONGEST} random bytes`;
  } catch {
    return 'names a file that cannot be read';
  }
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.hash === '';
}
