import { createHash } from 'node:crypto';

/** Copies a text that is kept. The parser returns views into a chunk of the file, and each view keeps its whole chunk in memory. */
export function toOwnText(text: string): string {
  return Buffer.from(text).toString();
}

/** The content of a `device` attribute: `<<HKDevice: 0x30…>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, …>`. */
interface Device {
  readonly manufacturer: string;
  readonly model: string;
  readonly hardware: string;
  readonly software: string;
}

/** Parses a `device` attribute; absent values are empty. The `name` is ignored, because people choose it. */
function parseDevice(text: string): Device {
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

/** The label of a device made by Apple; undefined for other manufacturers. */
function appleProductOf({ manufacturer, model, hardware }: Device): string | undefined {
  if (manufacturer !== '' && !/^apple\b/i.test(manufacturer)) return undefined;
  return findLabel(PRODUCTS, hardware.toLowerCase()) ?? findLabel(PRODUCTS, model.toLowerCase());
}

/** The attributes of a record about its source. */
interface RecordSource {
  readonly sourceName: string;
  readonly sourceVersion: string;
  readonly device: string;
}

/** Label of manual entries. */
export const MANUAL = 'manual';

/** Label of Apple's Health app, and of Apple sources that cannot be distinguished further. */
export const APPLE_HEALTH = 'apple-health';

export const APPLE_WATCH = 'apple-watch';

// Starts of the hardware and models of Apple. Anchored, because others make a "Scale for iPhone".
const PRODUCTS: readonly (readonly [RegExp, string])[] = [
  [/^watch/, APPLE_WATCH],
  [/^iphone/, 'iphone'],
  [/^ipad/, 'ipad'],
  [/^ipod/, 'ipod'],
  [/^airpods/, 'airpods'],
];

// Words in a source's name that identify a product regardless of its owner: "Simon’s iPhone" is an iPhone.
const PRODUCT_WORDS: readonly (readonly [RegExp, string])[] = [
  [/apple ?watch/, APPLE_WATCH],
  [/iphone/, 'iphone'],
  [/ipad/, 'ipad'],
  [/ipod/, 'ipod'],
  [/airpods/, 'airpods'],
];

// Manufacturers and apps whose names contain no person's name: in a source's name, or as the manufacturer of a device.
const BRANDS: readonly (readonly [RegExp, string])[] = [
  [/withings|health mate/, 'withings'],
  [/garmin|^connect$/, 'garmin'],
  [/fitbit/, 'fitbit'],
  [/^oura\b/, 'oura'],
  [/^polar\b/, 'polar'],
  [/omron/, 'omron'],
  [/dexcom/, 'dexcom'],
  [/librelink|freestyle libre|^abbott\b/, 'freestyle-libre'],
  [/medtronic/, 'medtronic'],
  [/beurer/, 'beurer'],
  [/ihealth/, 'ihealth'],
  [/qardio/, 'qardio'],
  [/renpho/, 'renpho'],
  [/eufy/, 'eufy'],
  [/zepp|mi fit|xiaomi|amazfit/, 'zepp'],
  [/huawei/, 'huawei'],
  [/samsung/, 'samsung'],
  [/suunto/, 'suunto'],
  [/^coros\b/, 'coros'],
  [/^whoop\b/, 'whoop'],
  [/wahoo/, 'wahoo'],
  [/peloton/, 'peloton'],
  [/alivecor|^kardia/, 'kardia'],
  [/strava/, 'strava'],
  [/runkeeper/, 'runkeeper'],
  [/runtastic/, 'runtastic'],
  [/nike ?run|nrc/, 'nike-run-club'],
  [/myfitnesspal/, 'myfitnesspal'],
  [/sleep ?cycle/, 'sleep-cycle'],
  [/autosleep/, 'autosleep'],
  [/headspace/, 'headspace'],
];

// The names of the Health app in the languages of the phone.
const HEALTH_APP = new Set(
  'health|gesundheit|santé|salud|saúde|salute|gezondheid|hälsa|helse|sundhed|terveys|zdrowie|zdraví|здоровье|ヘルスケア|健康|건강'.split(
    '|',
  ),
);

const MAX_KNOWN = 10_000;

/**
 * Gives every source of an export a label without a person's name. HealthKit distinguishes sources so that the counts of a phone
 * and an app are not added up; therefore different sources get different labels where possible.
 */
export class SourceLabels {
  readonly #ownDevices = new Map<string, string>();
  readonly #labels = new Map<string, string>();

  /**
   * Learns which sources are devices: if the source's version is that of the device's software, the source is the device itself,
   * whatever its owner called it. Must be called for every record before the first label is read.
   */
  learn({ sourceName, sourceVersion, device }: RecordSource): void {
    if (device === '' || sourceVersion === '' || this.#ownDevices.has(sourceName)) return;
    const { software, ...rest } = parseDevice(device);
    const product = software === sourceVersion ? appleProductOf({ ...rest, software }) : undefined;
    if (product !== undefined && this.#ownDevices.size < MAX_KNOWN)
      this.#ownDevices.set(toOwnText(sourceName), product);
  }

  labelOf(source: RecordSource): string {
    const key = `${source.sourceName}\n${source.device}`;
    const known = this.#labels.get(key);
    if (known !== undefined) return known;
    const label = this.#find(source);
    // Only a forged file has this many sources. Caching only saves time.
    if (this.#labels.size < MAX_KNOWN) this.#labels.set(key, label);
    return label;
  }

  #find({ sourceName, device }: RecordSource): string {
    // Apple writes no-break spaces into product names.
    const name = sourceName.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
    const byName =
      findLabel(PRODUCT_WORDS, name) ?? this.#ownDevices.get(sourceName) ?? findLabel(BRANDS, name);
    if (byName !== undefined) return byName;
    const { manufacturer, model } = parseDevice(device);
    const byMaker = findLabel(BRANDS, manufacturer.toLowerCase()) ?? findLabel(BRANDS, model.toLowerCase());
    if (byMaker !== undefined) return byMaker;
    return name === '' || HEALTH_APP.has(name) ? APPLE_HEALTH : unknownLabel(name);
  }
}

function findLabel(table: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return text === '' ? undefined : table.find(([pattern]) => pattern.test(text))?.[1];
}

/**
 * The name of an unknown app may be a person's name. Its label only distinguishes it from the person's other apps: 12 bits of a
 * digest, too few to confirm a name.
 */
function unknownLabel(name: string): string {
  return `app-${createHash('sha256').update(name).digest('hex').slice(0, 3)}`;
}
