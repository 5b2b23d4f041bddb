import { createCipheriv, createDecipheriv, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

export interface SealingKeys {
  /** 32 bytes each. */
  readonly textKey: Buffer;
  readonly codeKey: KeyObject;
}

const CODE_BYTES = 16;
const CIPHER = 'aes-256-ctr';

/**
 * The text, encrypted and authenticated together with a context, as base64url. The construction is that of RFC 5297 (SIV): the
 * authentication code of the text is the initial value of its encryption, so the same text gives the same result.
 */
export function seal({ textKey, codeKey }: SealingKeys, text: string, context: string): string {
  const code = toCode(codeKey, text, context);
  const encrypted = createCipheriv(CIPHER, textKey, code).update(text, 'utf8');
  return Buffer.concat([code, encrypted]).toString('base64url');
}

/** The text of `seal`; null for anything that was not sealed with these keys for this context. */
export function open({ textKey, codeKey }: SealingKeys, sealed: string, context: string): string | null {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length <= CODE_BYTES) return null;
  const code = bytes.subarray(0, CODE_BYTES);
  const text = createDecipheriv(CIPHER, textKey, code).update(bytes.subarray(CODE_BYTES)).toString('utf8');
  return timingSafeEqual(code, toCode(codeKey, text, context)) ? text : null;
}

function toCode(key: KeyObject, text: string, context: string): Buffer {
  return createHmac('sha256', key).update(`${context}\0${text}`).digest().subarray(0, CODE_BYTES);
}
