/** The content of a `device` attribute: `<<HKDevice: 0x30…>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, …>`. */
export interface Device {
  readonly manufacturer: string;
  readonly model: string;
  readonly hardware: string;
  readonly software: string;
}

/** Parses a `device` attribute; absent values are empty. The `name` is ignored, because people choose it. */
export function parseDevice(text: string): Device {
  return {
    manufacturer: keyValue(text, 'manufacturer'),
    model: keyValue(text, 'model'),
    hardware: keyValue(text, 'hardware'),
    software: keyValue(text, 'software'),
  };
}

/** A value ends at the next key, because values may contain commas (`hardware:Watch6,7`). */
function keyValue(text: string, key: string): string {
  const start = text.indexOf(`, ${key}:`);
  if (start === -1) return '';
  const rest = text.slice(start + key.length + 3);
  const end = /, [a-z]+:|>$/i.exec(rest)?.index ?? rest.length;
  return rest.slice(0, end).trim();
}

const PRODUCTS = [
  [/^watch/i, 'apple-watch'],
  [/^iphone/i, 'iphone'],
  [/^ipad/i, 'ipad'],
  [/^ipod/i, 'ipod'],
  [/^airpods/i, 'airpods'],
] as const;

/** The label of a device made by Apple; null for other manufacturers. */
export function appleProductOf({ manufacturer, model, hardware }: Device): string | null {
  if (manufacturer !== '' && !/^apple\b/i.test(manufacturer)) return null;
  return PRODUCTS.find(([pattern]) => pattern.test(hardware) || pattern.test(model))?.[1] ?? null;
}
