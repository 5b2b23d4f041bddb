import { createHash } from 'node:crypto';

const KEY_LENGTH = 200;

/** The source's own key if it fits, else a digest of the key, or of the content if there is no key. */
export function toHealthRecordKey(key: string, content: unknown): string {
  if (key !== '' && key.length <= KEY_LENGTH && !/\p{Cc}/u.test(key)) return key;
  const stated = key === '' ? JSON.stringify(content, bigintAsText) : key;
  return `sha256:${createHash('sha256').update(stated).digest('hex')}`;
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
