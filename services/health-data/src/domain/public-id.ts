/** Prefixes of public ids; 32 hexadecimal digits follow. */
export type IdPrefix = 'rdg' | 'sym' | 'med' | 'adh' | 'cnd' | 'alg' | 'apt' | 'wgt' | 'mood' | 'rpt' | 'ehr';

/** The 32 digits of a public id; null if it is malformed or has another prefix. */
export function findDigits(prefix: IdPrefix, publicId: string): string | null {
  const digits = publicId.slice(prefix.length + 1);
  return publicId === `${prefix}_${digits}` && /^[0-9a-f]{32}$/.test(digits) ? digits : null;
}

/** Formats 32 hexadecimal digits as a UUID. */
export function toUuid(digits: string): string {
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}
