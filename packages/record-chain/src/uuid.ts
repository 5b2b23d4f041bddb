/** The 16 bytes of a UUID. Throws for an invalid one. */
export function parseUuid(text: string): Buffer {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex');
  if (bytes.length !== 16) throw new TypeError(`not a UUID: ${JSON.stringify(text)}`);
  return bytes;
}

/** The text form of 16 bytes (RFC 9562 section 4). */
export function toUuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The Unix milliseconds in a UUID version 7. */
export function timeOfUuid(bytes: Uint8Array): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUIntBE(0, 6);
}
