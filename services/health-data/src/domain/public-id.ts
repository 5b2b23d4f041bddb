/** Prefixes of the ids that leave the service; the rest is the row's id in hexadecimal. */
export type IdPrefix = 'rdg' | 'sym' | 'med' | 'adh' | 'cnd' | 'alg' | 'apt' | 'wgt' | 'mood' | 'rpt' | 'ehr';

/** The opaque id of a row on the wire, such as `rdg_` and 32 hexadecimal digits (contract section 1). */
export function toPublicId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`;
}

/** The row that an id from outside means; null when it cannot be one of this kind. */
export function findRowId(prefix: IdPrefix, publicId: string): string | null {
  const digits = publicId.slice(prefix.length + 1);
  if (publicId !== `${prefix}_${digits}` || !/^[0-9a-f]{32}$/.test(digits)) return null;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
