/** Protobuf messages as comparable text; their 64-bit integers have no JSON of their own. */
export function createMessageText(message: unknown): string {
  return JSON.stringify(message, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
