/** Converts protobuf messages to comparable text; JSON cannot represent their 64-bit integers. */
export function createMessageText(message: unknown): string {
  return JSON.stringify(message, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
